export type FailureText = string;
export type PlainWarning = string;
