/** An entry of the program header table: a part of the file and the memory that it becomes. Sizes are in bytes. */
export type Segment = {
  /** One of `segmentType`, or another. */
  readonly type: number;
  /** The sum of some of `segmentFlag`. */
  readonly flags: number;
  /** Its place in the file. */
  readonly offset: number;
  /** Its place in memory. */
  readonly address: number;
  readonly fileSize: number;
  readonly memorySize: number;
  readonly align: number;
};

/** A 64-bit little-endian ELF file: its bytes, and what its header and program headers say. */
export type Elf = {
  /** The name that error messages give the file. */
  readonly name: string;
  readonly bytes: Uint8Array;
  /** One of `elfType`, or another. */
  readonly type: number;
  /** The architecture, `e_machine`: see `Target.machine`. */
  readonly machine: number;
  /** The address of the first instruction. */
  readonly entry: number;
  /** The offset of the program header table in the file. */
  readonly segmentsOffset: number;
  readonly segments: readonly Segment[];
};

/** Types of segments, by their numbers in elf.h (System V gABI, chapters 4 and 5). */
export const segmentType = {
  unused: 0,
  load: 1,
  dynamic: 2,
  interp: 3,
  note: 4,
  table: 6,
  thread: 7,
  frames: 0x6474e550,
  stack: 0x6474e551,
  relro: 0x6474e552,
  property: 0x6474e553,
} as const;
/** Bits of `Segment.flags`. */
export const segmentFlag = { execute: 1, write: 2, read: 4 } as const;
/** Types of files: `executable` is at a fixed address (ET_EXEC), `shared` is not (ET_DYN). */
export const elfType = { executable: 2, shared: 3 } as const;

const headerSize = 64;
/** The end of a process's addresses (x86-64 with four levels of page tables; arm64 has as many or more). */
const userMemory = 0x8000_0000_0000;
const segmentSize = 56;

/**
 * Reads the ELF header and the program headers; the result refers to `bytes`. `name` is for error messages.
 * @throws Error unless it is a 64-bit little-endian ELF file whose segments lie in the file and in a process's memory
 */
export function readElf(bytes: Uint8Array, name: string): Elf {
  if (bytes.length < 4 || view(bytes, 0, 4, name, "magic number").getUint32(0) !== 0x7f454c46)
    throw new Error(`${name}: not an ELF file (it does not begin with \\x7fELF)`);
  const header = view(bytes, 0, headerSize, name, "ELF header");
  if (header.getUint8(4) !== 2 || header.getUint8(5) !== 1)
    throw new Error(
      `${name}: expected 64-bit little-endian ELF, got class ${header.getUint8(4)}, data ${header.getUint8(5)}`,
    );
  const segmentsOffset = word(header, 32);
  return {
    name,
    bytes,
    type: header.getUint16(16, true),
    machine: header.getUint16(18, true),
    entry: word(header, 24),
    segmentsOffset,
    segments: readSegments(bytes, name, segmentsOffset, header),
  };
}

function readSegments(bytes: Uint8Array, name: string, offset: number, header: DataView): Segment[] {
  const count = header.getUint16(56, true);
  const size = header.getUint16(54, true);
  if (count > 0 && size !== segmentSize)
    throw new Error(`${name}: expected program headers of ${segmentSize} bytes, got ${size}`);
  const table = view(bytes, offset, count * segmentSize, name, "program header table");
  return Array.from({ length: count }, (_, index) => readSegment(table, index, bytes, name));
}

function readSegment(table: DataView, index: number, bytes: Uint8Array, name: string): Segment {
  const at = index * segmentSize;
  const segment = {
    type: table.getUint32(at, true),
    flags: table.getUint32(at + 4, true),
    offset: word(table, at + 8),
    address: word(table, at + 16),
    fileSize: word(table, at + 32),
    memorySize: word(table, at + 40),
    align: word(table, at + 48),
  };
  view(bytes, segment.offset, segment.fileSize, name, `content of program header ${index}`);
  if (segment.type === segmentType.load && segment.fileSize > segment.memorySize)
    throw new Error(`${name}: program header ${index} has more bytes in the file than in memory`);
  if (segment.address + segment.memorySize > userMemory)
    throw new Error(
      `${name}: program header ${index} is for memory that no process has, up to ${hex(segment.address + segment.memorySize)}`,
    );
  return segment;
}

/**
 * Writes program headers into `bytes` in place of those of `elf`, and removes the reference to section headers. They
 * may fill `room` bytes, by default as many as the old ones; the rest of it becomes zero. @throws Error if they need
 * more
 */
export function writeSegments(
  bytes: Uint8Array,
  elf: Elf,
  segments: readonly Segment[],
  room = elf.segments.length * segmentSize,
): void {
  if (segments.length * segmentSize > room)
    throw new Error(
      `${elf.name}: ${segments.length} program headers are needed, there is room for ${Math.floor(room / segmentSize)}`,
    );
  bytes.fill(0, elf.segmentsOffset, elf.segmentsOffset + room);
  const table = view(bytes, elf.segmentsOffset, room, elf.name, "program header table");
  segments.forEach((segment, index) => {
    writeSegment(table, index * segmentSize, segment);
  });
  const header = view(bytes, 0, headerSize, elf.name, "ELF header");
  header.setUint16(56, segments.length, true);
  header.setBigUint64(40, 0n, true);
  for (const sectionField of [58, 60, 62]) header.setUint16(sectionField, 0, true);
}

function writeSegment(table: DataView, at: number, segment: Segment): void {
  table.setUint32(at, segment.type, true);
  table.setUint32(at + 4, segment.flags, true);
  const words = [segment.offset, segment.address, segment.address, segment.fileSize, segment.memorySize, segment.align];
  words.forEach((value, index) => {
    table.setBigUint64(at + 8 + index * 8, BigInt(value), true);
  });
}

/** Returns the segments of a type, one of `segmentType`. */
export function segmentsOf(elf: Elf, type: number): readonly Segment[] {
  return elf.segments.filter((segment) => segment.type === type);
}

/** Returns the only segment of a type, or undefined if there is none. @throws Error if there are more */
export function segmentOf(elf: Elf, type: number): Segment | undefined {
  const [first, second] = segmentsOf(elf, type);
  if (second !== undefined) throw new Error(`${elf.name}: more than one program header of type ${type}`);
  return first;
}

/** Returns the loaded segment whose memory holds all `size` bytes from an address on. @throws Error if none does */
export function loadAt(elf: Elf, address: number, size: number): Segment {
  const found = segmentsOf(elf, segmentType.load).find(
    (load) => load.address <= address && address + size <= load.address + load.memorySize,
  );
  if (found === undefined)
    throw new Error(`${elf.name}: no segment loads the ${size} bytes at address ${hex(address)}`);
  return found;
}

/**
 * Returns the offset in the file of an address. If the address is in memory that the file does not hold (.bss), it is
 * the offset that it would have. @throws Error if no loaded segment holds all `size` bytes from it on
 */
export function fileOffset(elf: Elf, address: number, size: number): number {
  const load = loadAt(elf, address, size);
  return load.offset + address - load.address;
}

/**
 * Returns the `size` bytes that memory holds at an address right after loading: those of the file, then zeros. If all
 * are in the file it is a view of them, otherwise a copy. @throws Error if no loaded segment holds all of them
 */
export function memoryAt(elf: Elf, address: number, size: number): Uint8Array {
  const load = loadAt(elf, address, size);
  const from = fileOffset(elf, address, size);
  const stored = Math.max(0, Math.min(size, load.address + load.fileSize - address));
  if (stored === size) return elf.bytes.subarray(from, from + size);
  const memory = new Uint8Array(size);
  memory.set(elf.bytes.subarray(from, from + stored));
  return memory;
}

/**
 * Returns a view of a part of a file. @throws Error, with the file's `name` and the `part`'s, if the file ends before
 */
export function view(bytes: Uint8Array, offset: number, size: number, name: string, part: string): DataView {
  if (offset + size > bytes.length)
    throw new Error(
      `${name}: truncated or malformed: ${part} (${size} bytes at ${hex(offset)}) ends after the file of ${bytes.length} bytes`,
    );
  return new DataView(bytes.buffer, bytes.byteOffset + offset, size);
}

/** Reads a 64-bit unsigned little-endian number. @throws Error if it is greater than Number.MAX_SAFE_INTEGER */
export function word(fields: DataView, at: number): number {
  const value = fields.getBigUint64(at, true);
  if (value > BigInt(Number.MAX_SAFE_INTEGER))
    throw new Error(`malformed ELF: field of 0x${value.toString(16)} is out of range`);
  return Number(value);
}

/** Rounds a value up to a multiple of `align`; with 0 or 1 it stays as it is. */
export function alignUp(value: number, align: number): number {
  return align > 1 ? Math.ceil(value / align) * align : value;
}

/** Formats a number in hexadecimal, with `0x`. */
export function hex(value: number): string {
  return `0x${value.toString(16)}`;
}
