import type { ListCall } from './list-call.ts'
import type { RestClient } from './rest-methods.ts'

declare const client: RestClient

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const check = <T extends true>(): T | undefined => undefined

// Results have the types of the response schemas.
check<Equal<Awaited<ReturnType<typeof client.runs.get>>['id'], string>>()
check<
  Equal<Awaited<ReturnType<typeof client.agents.state>>, { agentId: string } & object> extends boolean ? true : never
>()
check<Equal<ReturnType<typeof client.metrics.get>, Promise<Response>>>()
check<Equal<ReturnType<typeof client.workflows.deleteThread>, Promise<undefined>>>()
check<ReturnType<typeof client.runs.list> extends ListCall<{ id: string; status: string }> ? true : false>()
check<ReturnType<typeof client.runs.events> extends ListCall<{ eventId: string }> ? true : false>()

// Arguments have the types of the operation.
void (() => client.agents.run('echo'))
void (() => client.agents.run('echo', { input: 1, timeoutMs: 5 }, { prefer: 'wait=3' }))
void (() => client.runs.list({ limit: 10, status: 'failed' }))
void (() => client.realtime.createWsTicket({ idempotencyKey: 'k' }))
// @ts-expect-error the id is missing
void (() => client.agents.run())
// @ts-expect-error unknown member
void (() => client.agents.run('echo', { inptu: 1 }))
// @ts-expect-error unknown status
void (() => client.runs.list({ status: 'done' }))
// @ts-expect-error the body is required
void (() => client.approvals.resolve('apr_1'))
// @ts-expect-error event streams have no method
void (() => client.sessions.events('ses_1'))
// @ts-expect-error unknown preference
void (() => client.agents.run('echo', {}, { prefer: 'soon' }))
