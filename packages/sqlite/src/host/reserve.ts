import { rm, stat, statfs, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Room on the disk that is held back, so that what is under way can be brought to its end when the disk is full. */
export interface Reserve {
  /** Gives the room to the database. Never rejects. */
  release(): Promise<void>
  /** Takes it back, where there is room for it and for more; whether writing may go on. Never rejects. */
  refill(): Promise<boolean>
}

const BALLAST_BYTES = 16 * 1024 * 1024
/** What must be free besides, so that the next commits do not meet a full disk again. */
const MARGIN_BYTES = 1024 * 1024

/** A file of nothing beside the database. A disk too small for it from the start is served without. */
export function createReserve(databasePath: string, bytes = BALLAST_BYTES): Reserve {
  const path = `${databasePath}.ballast`
  let isWanted = false

  const isThere = () =>
    stat(path).then(
      ({ size }) => size === bytes,
      () => false,
    )

  const make = async (): Promise<boolean> => {
    try {
      await writeFile(path, Buffer.alloc(bytes), { mode: 0o600, flush: true })
      return true
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
      if (await isThere()) {
        isWanted = true
        return true
      }
      const free = await freeBytes(path)
      if (free < MARGIN_BYTES) return false
      const isMade = free >= bytes + MARGIN_BYTES && (await make())
      const mayGoOn = isMade || !isWanted
      isWanted ||= isMade
      return mayGoOn
    },
  }
}

/** On the disk of the file; as good as endless where the system does not tell. */
export async function freeBytes(path: string): Promise<number> {
  try {
    const { bavail, bsize } = await statfs(dirname(path))
    return bavail * bsize
  } catch {
    return Number.MAX_SAFE_INTEGER
  }
}
