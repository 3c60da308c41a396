/**
 * Frees the memory of a buffer that has no readers left. Garbage collection would free it much later: the collector is
 * triggered by the size of its own heap, and these buffers, tens of MiB in total, are outside that heap.
 */
export function releaseBytes({ buffer, byteLength }: Uint8Array): void {
  // A buffer with other parts, and one that several threads share, may have other readers.
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}
