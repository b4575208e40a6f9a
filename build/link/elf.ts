/** One entry of the program header table; addresses and sizes in bytes. */
export type Segment = {
  readonly type: number;
  readonly flags: number;
  readonly offset: number;
  readonly address: number;
  readonly fileSize: number;
  readonly memorySize: number;
  readonly align: number;
};

/** A 64-bit little-endian ELF file: its bytes, and what its header and program headers say. */
export type Elf = {
  /** How error messages call the file. */
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly type: number;
  readonly machine: number;
  readonly entry: number;
  readonly segmentsOffset: number;
  readonly segments: readonly Segment[];
};

/** Numbers are those of elf.h (System V gABI, chapters 4 and 5). */
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
export const segmentFlag = { execute: 1, write: 2, read: 4 } as const;
export const elfType = { executable: 2, shared: 3 } as const;

const headerSize = 64;
/** Where the addresses of a process end (x86-64, four levels of page tables; arm64 has as many or more). */
const userMemory = 0x8000_0000_0000;
const segmentSize = 56;

/** Reads the ELF header and the program headers, and refuses what is not a 64-bit little-endian ELF file. */
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

/** Writes the program headers in place of the old ones, and removes the reference to section headers. */
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

/** Writes another size of one segment, in the file and in memory alike. */
export function resizeSegment(bytes: Uint8Array, elf: Elf, segment: Segment, size: number): void {
  const at = elf.segmentsOffset + elf.segments.indexOf(segment) * segmentSize;
  const table = view(bytes, at, segmentSize, elf.name, "program header");
  writeSegment(table, 0, { ...segment, fileSize: size, memorySize: size });
}

function writeSegment(table: DataView, at: number, segment: Segment): void {
  table.setUint32(at, segment.type, true);
  table.setUint32(at + 4, segment.flags, true);
  const words = [segment.offset, segment.address, segment.address, segment.fileSize, segment.memorySize, segment.align];
  words.forEach((value, index) => {
    table.setBigUint64(at + 8 + index * 8, BigInt(value), true);
  });
}

export function segmentsOf(elf: Elf, type: number): readonly Segment[] {
  return elf.segments.filter((segment) => segment.type === type);
}

/** The one segment of a type; undefined where there is none. */
export function segmentOf(elf: Elf, type: number): Segment | undefined {
  const [first, second] = segmentsOf(elf, type);
  if (second !== undefined) throw new Error(`${elf.name}: more than one program header of type ${type}`);
  return first;
}

/** The loaded segment whose memory holds all of `size` bytes at an address. */
export function loadAt(elf: Elf, address: number, size: number): Segment {
  const found = segmentsOf(elf, segmentType.load).find(
    (load) => load.address <= address && address + size <= load.address + load.memorySize,
  );
  if (found === undefined)
    throw new Error(`${elf.name}: no segment loads the ${size} bytes at address ${hex(address)}`);
  return found;
}

/** Where in the file the `size` bytes at an address are, or would be if the file held all of its memory. */
export function fileOffset(elf: Elf, address: number, size: number): number {
  const load = loadAt(elf, address, size);
  return load.offset + address - load.address;
}

/** What memory holds at an address right after loading: bytes of the file, and zeros past them. */
export function memoryAt(elf: Elf, address: number, size: number): Uint8Array {
  const load = loadAt(elf, address, size);
  const from = fileOffset(elf, address, size);
  const stored = Math.max(0, Math.min(size, load.address + load.fileSize - address));
  if (stored === size) return elf.bytes.subarray(from, from + size);
  const memory = new Uint8Array(size);
  memory.set(elf.bytes.subarray(from, from + stored));
  return memory;
}

/** A view on a part of the file; a part that is not there is an error that names it. */
export function view(bytes: Uint8Array, offset: number, size: number, name: string, part: string): DataView {
  if (offset + size > bytes.length)
    throw new Error(
      `${name}: truncated or malformed: ${part} (${size} bytes at ${hex(offset)}) ends after the file of ${bytes.length} bytes`,
    );
  return new DataView(bytes.buffer, bytes.byteOffset + offset, size);
}

/** A 64-bit unsigned field, which must be a number that JavaScript holds exactly. */
export function word(fields: DataView, at: number): number {
  const value = fields.getBigUint64(at, true);
  if (value > BigInt(Number.MAX_SAFE_INTEGER))
    throw new Error(`malformed ELF: field of 0x${value.toString(16)} is out of range`);
  return Number(value);
}

export function alignUp(value: number, align: number): number {
  return align > 1 ? Math.ceil(value / align) * align : value;
}

export function hex(value: number): string {
  return `0x${value.toString(16)}`;
}
