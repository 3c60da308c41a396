import { rm, stat, statfs, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Disk space held back, so that runs in progress can still be recorded as ended when the disk is full. */
export interface Reserve {
  /** Frees the space for the database. Never rejects. */
  release(): Promise<void>
  /** Reserves the space again if enough is free. Resolves to whether writes may resume. Never rejects. */
  refill(): Promise<boolean>
}

const RESERVE_BYTES = 16 * 1024 * 1024
/** Space that must be free besides the reserve, so that the next commits do not fill the disk again. */
const MARGIN_BYTES = 1024 * 1024

/**
 * A file of zeros in the directory of the database. If the disk was never large enough for it, the server runs without
 * a reserve.
 */
export function createReserve(databasePath: string, bytes = RESERVE_BYTES): Reserve {
  const path = `${databasePath}.ballast`
  let wasCreated = false

  const exists = () =>
    stat(path).then(
      ({ size }) => size === bytes,
      () => false,
    )

  const isDiskThere = () =>
    stat(databasePath).then(
      () => true,
      () => false,
    )

  /** Leaves no file below the mount point of a disk that was unmounted. */
  const create = async (): Promise<boolean> => {
    if (!(await isDiskThere())) return false
    try {
      await writeFile(path, Buffer.alloc(bytes), { mode: 0o600, flush: true })
      if (await isDiskThere()) return true
      await rm(path, { force: true })
      return false
    } catch {
      await rm(path, { force: true }).catch(() => undefined)
      return false
    }
  }

  return {
    async release() {
      await rm(path, { force: true }).catch(() => undefined)
    },
    async refill() {
      if (await exists()) {
        wasCreated = true
        return true
      }
      const free = await freeBytes(path)
      if (free < MARGIN_BYTES) return false
      const isCreated = free >= bytes + MARGIN_BYTES && (await create())
      const mayResume = isCreated || !wasCreated
      wasCreated ||= isCreated
      return mayResume
    },
  }
}

/** Free space on the disk that holds the file; `Number.MAX_SAFE_INTEGER` where the system cannot report it. */
export async function freeBytes(path: string): Promise<number> {
  try {
    const { bavail, bsize } = await statfs(dirname(path))
    return bavail * bsize
  } catch {
    return Number.MAX_SAFE_INTEGER
  }
}
