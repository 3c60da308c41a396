import type { WriteAppliers } from '../transaction.ts'

export const eventWrites: WriteAppliers<'event.append'> = {
  // biome-ignore lint/correctness/useYield: a program that asks for nothing
  *'event.append'({ append }, { events }) {
    append(events)
    return events.length
  },
}
