import type { LockoutRecord, LockoutStore } from '@perdure/ports'

/** The reference adapter of `LockoutStore`, for processes that share its memory, such as servers in one test. */
export function createInMemoryLockoutStore(): LockoutStore {
  const records = new Map<string, LockoutRecord>()

  return {
    find: async (addresses) => [...new Set(addresses)].flatMap((address) => records.get(address) ?? []),
    async put(changed) {
      const refused: string[] = []
      for (const record of changed) {
        const { version = 0 } = records.get(record.address) ?? {}
        if (record.version === version + 1) records.set(record.address, frozen(record))
        else refused.push(record.address)
      }
      return refused
    },
    locked: async (now, limit) =>
      [...records.values()]
        .filter(({ lockedUntil }) => lockedUntil > now)
        .sort((one, other) => other.lockedUntil - one.lockedUntil || (one.address < other.address ? -1 : 1))
        .slice(0, limit),
    async prune(before, limit) {
      const old = [...records.values()].filter((record) => lastChange(record) < before).slice(0, limit)
      for (const { address } of old) records.delete(address)
      return old.length
    },
  }
}

const frozen = (record: LockoutRecord): LockoutRecord =>
  Object.freeze({ ...record, failedAt: Object.freeze([...record.failedAt]) })

const lastChange = ({ failedAt, lockedUntil }: LockoutRecord): number => Math.max(lockedUntil, ...failedAt)
