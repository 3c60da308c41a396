import type { TicketRecord, TicketStore } from '@perdure/ports'

const MAX_SPENT = 10_000

/** Keeps tickets in the memory of one process. */
export function createInMemoryTicketStore(): TicketStore {
  const outstanding = new Map<string, TicketRecord>()
  const countByHolder = new Map<string, number>()
  /** Digests of the latest tickets that were taken or have expired. */
  const spent = new Set<string>()

  const remove = ({ digest, holder }: TicketRecord) => {
    outstanding.delete(digest)
    spent.add(digest)
    for (const oldest of spent) {
      if (spent.size <= MAX_SPENT) break
      spent.delete(oldest)
    }
    const left = (countByHolder.get(holder) ?? 1) - 1
    if (left === 0) countByHolder.delete(holder)
    else countByHolder.set(holder, left)
  }

  const removeExpired = (now: number) => {
    for (const ticket of outstanding.values()) if (ticket.expiresAt <= now) remove(ticket)
  }

  return {
    async insert(ticket, { perHolder, total }, now) {
      const { digest, holder } = ticket
      const isFull = () => (countByHolder.get(holder) ?? 0) >= perHolder || outstanding.size >= total
      if (isFull()) removeExpired(now)
      if (isFull()) return false
      outstanding.set(digest, Object.freeze({ ...ticket }))
      countByHolder.set(holder, (countByHolder.get(holder) ?? 0) + 1)
      return true
    },
    async take(digest, now) {
      const ticket = outstanding.get(digest)
      if (ticket === undefined) return spent.has(digest) ? 'spent' : undefined
      remove(ticket)
      return ticket.expiresAt <= now ? 'spent' : ticket
    },
  }
}
