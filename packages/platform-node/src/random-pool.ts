import { randomFillSync } from 'node:crypto'

const POOL_BYTES = 4_096

/**
 * Random bytes from the operating system, fetched in batches: a system call per id would cost more than the id itself.
 * Bytes are wiped from the pool when they are returned.
 */
export function createRandomPool(fill: (pool: Uint8Array) => void = randomFillSync): (length: number) => Uint8Array {
  const pool = new Uint8Array(POOL_BYTES)
  let next = POOL_BYTES

  return (length) => {
    if (length > POOL_BYTES) {
      const bytes = new Uint8Array(length)
      fill(bytes)
      return bytes
    }
    if (next + length > POOL_BYTES) {
      fill(pool)
      next = 0
    }
    const bytes = pool.slice(next, next + length)
    pool.fill(0, next, next + length)
    next += length
    return bytes
  }
}
