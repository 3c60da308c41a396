import { join } from 'node:path'
import OpenAI from 'openai'
import type { Response, ResponseStreamEvent } from 'openai/resources/responses/responses'
import { afterAll, beforeAll } from 'vitest'
import { type DurableServer, startDurableServer } from '../durable-server.ts'

export const PROTOCOLS_CONFIG = join(import.meta.dirname, '../fixtures/protocols.config.mjs')

/** What the agent `talker` says when it is asked `t`. */
export const TALK = Array.from({ length: 40 }, (_, n) => `t${n + 1} `).join('')

/** Where a client finds a server, and with what token. */
export type Endpoint = Pick<DurableServer, 'url' | 'token'>

/** A server for all tests of a file. */
export function serveForFile(): () => DurableServer {
  let server: DurableServer
  let kill = () => {}
  beforeAll(async () => {
    server = await startDurableServer(PROTOCOLS_CONFIG, {}, (end) => {
      kill = end
    })
  })
  afterAll(() => kill())
  return () => server
}

export const openaiOf = ({ url, token }: Endpoint, more: object = {}) =>
  new OpenAI({ baseURL: `${url()}/openai`, apiKey: token, ...more })

/** The body of a request for a Response. */
export const ask = (model: string, more: object = {}) => ({ model, input: 't', ...more })

/** The body of a request for a Chat Completion. */
export const chat = (model: string, more: object = {}) =>
  ({ model, messages: [{ role: 'user', content: 't' }], ...more }) as { model: string; messages: never[] }

export const isApproval = (item: Response['output'][number]) => item.type === 'mcp_approval_request'

/** The ids of the approvals that a response asks for. */
export const approvalsOf = ({ output }: Response) => output.filter(isApproval).map(({ id }) => String(id))

export const decision = (approval_request_id: string, approve: boolean, reason?: string) =>
  ({ type: 'mcp_approval_response', approval_request_id, approve, reason }) as const

/** The messages that answer the calls of a Chat Completion. */
export const chatAnswer = (calls: readonly { readonly id: string }[], contents: readonly string[]) =>
  [
    { role: 'user', content: 't' },
    { role: 'assistant', tool_calls: calls },
    ...calls.map(({ id }, index) => ({ role: 'tool', tool_call_id: id, content: contents[index] })),
  ] as never[]

export async function collect<T>(stream: AsyncIterable<T>): Promise<readonly T[]> {
  const items: T[] = []
  for await (const item of stream) items.push(item)
  return items
}

export const numbersOf = async (stream: AsyncIterable<ResponseStreamEvent>): Promise<readonly number[]> =>
  (await collect(stream)).map(({ sequence_number }) => sequence_number)

/** A response as it is, without the id of its run, which two runs never share. */
export const withoutRunId = <T>(value: T, runId: string): T =>
  JSON.parse(JSON.stringify(value).replaceAll(runId, '<run>')) as T
