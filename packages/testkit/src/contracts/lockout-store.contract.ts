import type { LockoutRecord, LockoutStore } from '@perdure/ports'
import { describe, expect, it } from 'vitest'

export interface LockoutStoreHarness {
  readonly name: string
  /** Opens an empty store. */
  open(): Promise<LockoutStore>
  close?(store: LockoutStore): Promise<void>
}

export interface LockoutStoreCase {
  readonly title: string
  run(store: LockoutStore): Promise<void>
}

const NOW = 1_700_000_000_000

const aRecord = (address: string, over: Partial<LockoutRecord> = {}): LockoutRecord => ({
  address,
  failedAt: [],
  locks: 0,
  lockedUntil: 0,
  version: 1,
  ...over,
})

const byAddress = (records: readonly LockoutRecord[]) =>
  records.toSorted((one, other) => (one.address < other.address ? -1 : 1))

export const lockoutStoreCases: readonly LockoutStoreCase[] = [
  {
    title: 'returns the records of the given addresses, each once',
    async run(store) {
      const records = [
        aRecord('192.0.2.1', { failedAt: [NOW, NOW, NOW + 5] }),
        aRecord('2001:db8::/64', { locks: 3, lockedUntil: NOW + 60_000 }),
        aRecord('192.0.2.3'),
      ]
      expect(await store.put(records)).toEqual([])

      const found = await store.find(['2001:db8::/64', '192.0.2.1', '192.0.2.1', 'unknown'])
      expect(byAddress(found)).toEqual(records.slice(0, 2))
      expect(await store.find([])).toEqual([])
    },
  },
  {
    title: 'replaces a record only by its next version, and reports the addresses of the others',
    async run(store) {
      await store.put([aRecord('a'), aRecord('b')])
      const next = aRecord('a', { version: 2, failedAt: [NOW] })

      expect(
        await store.put([aRecord('a', { locks: 9 }), aRecord('b', { version: 3 }), aRecord('c', { version: 2 })]),
      ).toEqual(['a', 'b', 'c'])
      expect(await store.put([next, aRecord('b', { version: 1 })])).toEqual(['b'])
      expect(byAddress(await store.find(['a', 'b', 'c']))).toEqual([next, aRecord('b')])
    },
  },
  {
    title: 'accepts one of many concurrent callers with the same version',
    async run(store) {
      for (const version of [1, 2]) {
        const puts = Array.from({ length: 10 }, (_, index) => store.put([aRecord('a', { version, locks: index })]))
        const refused = await Promise.all(puts)

        const winner = refused.findIndex((addresses) => addresses.length === 0)
        expect(refused.filter((addresses) => addresses.length === 0)).toHaveLength(1)
        expect(await store.find(['a'])).toEqual([aRecord('a', { version, locks: winner })])
      }
    },
  },
  {
    title: 'lists the locked addresses exactly until the end of their locks, those that end last first',
    async run(store) {
      const locked = (address: string, ms: number) => aRecord(address, { locks: 1, lockedUntil: NOW + ms })
      await store.put([locked('a', 10), locked('c', 20), locked('b', 20), aRecord('d', { failedAt: [NOW] })])
      const addresses = async (now: number, limit = 10) =>
        (await store.locked(now, limit)).map(({ address }) => address)

      expect(await addresses(NOW + 9)).toEqual(['b', 'c', 'a'])
      expect(await addresses(NOW + 10)).toEqual(['b', 'c'])
      expect(await addresses(NOW, 1)).toEqual(['b'])
      expect(await addresses(NOW + 20)).toEqual([])
      expect(await store.locked(NOW, 1)).toEqual([locked('b', 20)])
    },
  },
  {
    title: 'prunes records without a recent failure or lock, up to the limit',
    async run(store) {
      const old = [
        aRecord('none'),
        aRecord('failed', { failedAt: [NOW - 9, NOW - 1] }),
        aRecord('locked', { lockedUntil: NOW - 1 }),
      ]
      const kept = [
        aRecord('fails', { failedAt: [NOW - 9, NOW], lockedUntil: NOW - 50 }),
        aRecord('locks', { failedAt: [NOW - 9], lockedUntil: NOW }),
      ]
      await store.put([...old, ...kept])

      expect([await store.prune(NOW, 2), await store.prune(NOW, 2), await store.prune(NOW, 2)]).toEqual([2, 1, 0])
      expect(byAddress(await store.find([...old, ...kept].map(({ address }) => address)))).toEqual(kept)
      expect(await store.put([aRecord('none')])).toEqual([])
    },
  },
]

/** Requirements for every `LockoutStore`. */
export function lockoutStoreContract({ name, open, close }: LockoutStoreHarness): void {
  describe(`LockoutStore: ${name}`, () => {
    for (const { title, run } of lockoutStoreCases) {
      it(title, async () => {
        const store = await open()
        try {
          await run(store)
        } finally {
          await close?.(store)
        }
      })
    }
  })
}
