import { type TicketRecord, type TicketStore, toJsonText } from '@perdure/ports'
import { describe, expect, it } from 'vitest'

export interface TicketStoreHarness {
  readonly name: string
  /** Opens an empty store. */
  open(): Promise<TicketStore>
  close?(store: TicketStore): Promise<void>
}

export interface TicketStoreCase {
  readonly title: string
  run(store: TicketStore): Promise<void>
}

const NOW = 1_700_000_000_000
const LIMITS = { perHolder: 2, total: 5 }

const aTicket = (digest: string, over: Partial<TicketRecord> = {}): TicketRecord => ({
  digest,
  holder: 'tok_1',
  principal: toJsonText({ subject: 'Grüße 🚢', scopes: ['runs:read'] }),
  expiresAt: NOW + 1_000,
  ...over,
})

async function insertAll(store: TicketStore, tickets: readonly TicketRecord[], now = NOW): Promise<readonly boolean[]> {
  const inserted: boolean[] = []
  for (const ticket of tickets) inserted.push(await store.insert(ticket, LIMITS, now))
  return inserted
}

export const ticketStoreCases: readonly TicketStoreCase[] = [
  {
    title: 'returns a ticket as it was stored, with and without an origin',
    async run(store) {
      const tickets = [aTicket('a'), aTicket('b', { origin: 'https://app.example.com' })]
      expect(await insertAll(store, tickets)).toEqual([true, true])

      for (const ticket of tickets) expect(await store.take(ticket.digest, NOW)).toEqual(ticket)
    },
  },
  {
    title: 'returns nothing for a ticket that was never stored',
    async run(store) {
      await insertAll(store, [aTicket('a')])

      expect([await store.take('b', NOW), await store.take('', NOW), await store.take('A', NOW)]).toEqual([
        undefined,
        undefined,
        undefined,
      ])
    },
  },
  {
    title: 'gives a ticket to exactly one of many concurrent callers, and reports it as spent to the others',
    async run(store) {
      await insertAll(store, [aTicket('a')])

      const taken = await Promise.all(Array.from({ length: 20 }, () => store.take('a', NOW)))

      expect(taken.filter((one) => one !== 'spent')).toEqual([aTicket('a')])
      expect(await store.take('a', NOW)).toBe('spent')
    },
  },
  {
    title: 'reports a ticket as spent exactly from expiresAt, also when it is taken again',
    async run(store) {
      await insertAll(store, [aTicket('a'), aTicket('b')])

      expect(await store.take('a', NOW + 999)).toEqual(aTicket('a'))
      expect(await store.take('b', NOW + 1_000)).toBe('spent')
      expect(await store.take('b', NOW)).toBe('spent')
    },
  },
  {
    title: 'limits the outstanding tickets of each holder, and frees room when one is taken or expires',
    async run(store) {
      expect(await insertAll(store, [aTicket('a'), aTicket('b'), aTicket('c')])).toEqual([true, true, false])
      expect(await store.insert(aTicket('other', { holder: 'tok_2' }), LIMITS, NOW)).toBe(true)
      expect(await store.take('c', NOW)).toBeUndefined()

      await store.take('a', NOW)
      expect(await insertAll(store, [aTicket('d'), aTicket('e')])).toEqual([true, false])
      expect(await store.insert(aTicket('f'), LIMITS, NOW + 999)).toBe(false)
      expect(await store.insert(aTicket('g', { expiresAt: NOW + 9_000 }), LIMITS, NOW + 1_000)).toBe(true)
      expect(await store.take('b', NOW + 1_000)).toBe('spent')
    },
  },
  {
    title: 'limits the outstanding tickets of all holders without dropping one of them',
    async run(store) {
      const tickets = Array.from({ length: 6 }, (_, index) => aTicket(`t${index}`, { holder: `tok_${index}` }))
      expect(await insertAll(store, tickets)).toEqual([true, true, true, true, true, false])

      for (const ticket of tickets.slice(0, 5)) expect(await store.take(ticket.digest, NOW)).toEqual(ticket)
      expect(await store.insert(aTicket('last'), LIMITS, NOW)).toBe(true)
    },
  },
  {
    title: 'exceeds no limit when many callers insert at once',
    async run(store) {
      const insertAtOnce = (holders: number) =>
        Promise.all(
          Array.from({ length: 20 }, (_, index) =>
            store.insert(aTicket(`${holders}-${index}`, { holder: `tok_${index % holders}` }), LIMITS, NOW),
          ),
        )

      expect((await insertAtOnce(1)).filter(Boolean)).toHaveLength(2)
      expect((await insertAtOnce(20)).filter(Boolean)).toHaveLength(3)
    },
  },
  {
    title: 'keeps a ticket that expires early beside tickets that expire late, in any order',
    async run(store) {
      await store.insert(aTicket('late', { expiresAt: NOW + 9_000 }), LIMITS, NOW)
      await store.insert(aTicket('early', { expiresAt: NOW + 10 }), LIMITS, NOW)

      expect(await store.insert(aTicket('next', { expiresAt: NOW + 9_000 }), LIMITS, NOW + 10)).toBe(true)
      expect(await store.take('early', NOW + 10)).toBe('spent')
      expect(await store.take('late', NOW + 10)).toEqual(aTicket('late', { expiresAt: NOW + 9_000 }))
    },
  },
  {
    title: 'remembers at least a thousand spent tickets',
    async run(store) {
      const digests = Array.from({ length: 1_000 }, (_, index) => `t${index}`)
      for (const digest of digests) {
        await store.insert(aTicket(digest), LIMITS, NOW)
        await store.take(digest, NOW)
      }

      for (const digest of [digests[0], digests[500], digests[999]])
        expect(await store.take(digest ?? '', NOW)).toBe('spent')
    },
  },
]

/** Requirements for every `TicketStore`. */
export function ticketStoreContract({ name, open, close }: TicketStoreHarness): void {
  describe(`TicketStore: ${name}`, () => {
    for (const { title, run } of ticketStoreCases) {
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
