import { FdWriter } from '../output/byte-writer.ts';

/** Writes to standard error at once. A closed or full standard error must not change what the program does. */
export function writeDiagnostics(fd: number, text: string): void {
  try {
    new FdWriter(fd).write(Buffer.from(text));
  } catch {
    // There is nobody left to tell.
  }
}
