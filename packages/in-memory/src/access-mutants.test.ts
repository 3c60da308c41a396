import type { LockoutStore, TicketStore } from '@perdure/ports'
import { lockoutStoreCases, ticketStoreCases } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { createInMemoryLockoutStore } from './in-memory-lockout-store.ts'
import { createInMemoryTicketStore } from './in-memory-ticket-store.ts'

/** Expects a store with one fault to fail the case that the correct store passes. */
function expectCaught<Store>(
  {
    open,
    cases,
  }: { readonly open: () => Store; readonly cases: readonly { title: string; run(store: Store): Promise<void> }[] },
  mutants: readonly (readonly [fault: string, caughtBy: string, change: (store: Store) => Partial<Store>])[],
) {
  it.each(mutants)('that %s fails "%s"', async (_, caughtBy, change) => {
    const found = cases.find(({ title }) => title === caughtBy)
    await expect(found?.run(open())).resolves.toBeUndefined()
    const store = open()
    await expect(found?.run({ ...store, ...change(store) })).rejects.toThrow()
  })
}

describe('a ticket store', () => {
  expectCaught<TicketStore>({ open: createInMemoryTicketStore, cases: ticketStoreCases }, [
    [
      'gives a ticket to everybody',
      'gives a ticket to exactly one of many concurrent callers, and reports it as spent to the others',
      (store) => {
        const tickets = new Map()
        return {
          async insert(ticket, limits, now) {
            tickets.set(ticket.digest, ticket)
            return store.insert(ticket, limits, now)
          },
          take: async (digest) => tickets.get(digest),
        }
      },
    ],
    [
      'expires a ticket a millisecond late',
      'reports a ticket as spent exactly from expiresAt, also when it is taken again',
      (store) => ({ take: (digest, now) => store.take(digest, now - 1) }),
    ],
    [
      'ignores the limit of a holder',
      'limits the outstanding tickets of each holder, and frees room when one is taken or expires',
      (store) => ({ insert: (ticket, limits, now) => store.insert(ticket, { ...limits, perHolder: 99 }, now) }),
    ],
    [
      'ignores the limit of all holders',
      'limits the outstanding tickets of all holders without dropping one of them',
      (store) => ({ insert: (ticket, limits, now) => store.insert(ticket, { ...limits, total: 99 }, now) }),
    ],
    [
      'forgets spent tickets',
      'remembers at least a thousand spent tickets',
      (store) => ({
        async take(digest, now) {
          const taken = await store.take(digest, now)
          return taken === 'spent' ? undefined : taken
        },
      }),
    ],
  ])
})

describe('a lockout store', () => {
  expectCaught<LockoutStore>({ open: createInMemoryLockoutStore, cases: lockoutStoreCases }, [
    [
      'accepts any version',
      'accepts one of many concurrent callers with the same version',
      (store) => ({
        async put(records) {
          const known = await store.find(records.map(({ address }) => address))
          const versionOf = (address: string) => known.find((one) => one.address === address)?.version ?? 0
          await store.put(records.map((one) => ({ ...one, version: versionOf(one.address) + 1 })))
          return []
        },
      }),
    ],
    [
      'ends a lock a millisecond late',
      'lists the locked addresses exactly until the end of their locks, those that end last first',
      (store) => ({ locked: (now, limit) => store.locked(now - 1, limit) }),
    ],
    [
      'prunes a record whose lock has just ended',
      'prunes records without a recent failure or lock, up to the limit',
      (store) => ({ prune: (before, limit) => store.prune(before + 1, limit) }),
    ],
  ])
})
