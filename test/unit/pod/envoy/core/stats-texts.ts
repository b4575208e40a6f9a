/** The statistics of the admin interface's own listener, as the request for them sees them. */
export const admin = `http.admin.downstream_cx_active: 1
http.admin.downstream_rq_active: 1
listener.admin.downstream_cx_active: 1
listener.admin.http.admin.downstream_rq_completed: 9
listener.admin.main_thread.downstream_cx_active: 1
`;
