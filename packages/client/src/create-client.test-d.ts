import type { PerdureClient } from './create-client.ts'
import type { Event } from './subscription.ts'

declare const one: { readonly client: PerdureClient }
declare const other: { readonly client: PerdureClient }

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const check = <T extends true>(): T | undefined => undefined

// The types of two clients can be compared, as in a list.
void [one, other, one].map(({ client }) => client.close())

// Runs yield events, and the answer to the start has the type of the operation.
const stream = one.client.agents.stream('echo', { input: 1 }, { idempotencyKey: 'k' })
check<Equal<typeof stream extends AsyncIterable<infer Item> ? Item : never, Event>>()
check<Equal<Awaited<typeof stream.started>, Awaited<ReturnType<typeof one.client.agents.start>>>>()
check<Equal<Awaited<ReturnType<typeof one.client.workflows.stream>['started']>['threadId'], string>>()
check<Equal<ReturnType<typeof one.client.runs.follow> extends AsyncIterable<infer Item> ? Item : never, Event>>()
void (() => one.client.workflows.stream('refund'))
// @ts-expect-error a run that is followed has started already
void (() => one.client.agents.stream('echo', {}, { lastEventId: 'e.1' }))
// @ts-expect-error the wait of a stream is its run
void (() => one.client.agents.stream('echo', {}, { prefer: 'wait=3' }))
// @ts-expect-error unknown transport
void (() => one.client.subscribe('approvals/events', { transport: 'carrier pigeon' }))
