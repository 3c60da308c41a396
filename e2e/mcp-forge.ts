import { ODD_TEXTS } from './odd-values.ts'

/** A message for the MCP server, with the headers that its version demands. */
export interface ForgedMessage {
  readonly headers: readonly [string, string][]
  readonly body: string
}

const MODERN = '2026-07-28'
const META = 'io.modelcontextprotocol'
const METHODS = [
  ...['initialize', 'ping', 'server/discover', 'tools/list', 'subscriptions/listen', 'notifications/cancelled'],
  ...['tools/call', 'tools/call', 'tools/call', 'tasks/get', 'tasks/update', 'tasks/cancel'],
]
const TOOLS = ['echo', 'asks', 'tells', 'flow', 'perdure_run_wait', 'perdure_run_cancel', 'perdure_approvals']
const ACTIONS = ['accept', 'decline', 'cancel', 'other']

/** Generates messages that the MCP server accepts or nearly accepts. `ids` holds ids of runs and approvals. */
export function createMcpForge(random: () => number, ids: readonly string[]) {
  const chance = (share: number) => random() < share
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T
  const id = () => (ids.length > 0 && chance(0.9) ? pick(ids) : pick(ODD_TEXTS))
  const orOdd = <T>(value: T): unknown => (chance(0.04) ? pick<unknown>([null, 0, [], {}, ...ODD_TEXTS]) : value)
  const some = (members: Readonly<Record<string, unknown>>, share: number) =>
    Object.fromEntries(Object.entries(members).filter(() => chance(share)))

  const answer = () => ({
    action: pick(ACTIONS),
    content: orOdd({ approved: chance(0.5), ...some({ text: 'x' }, 0.3) }),
  })
  const args = (name: string) =>
    name.startsWith('perdure_run') ? { runId: id(), waitMs: pick([0, 1, 50]) } : { text: 'hi' }

  const metaOf = (isModern: boolean) => ({
    ...(isModern
      ? {
          [`${META}/protocolVersion`]: orOdd(MODERN),
          [`${META}/clientCapabilities`]: orOdd({
            ...some({ elicitation: {}, extensions: { [`${META}/tasks`]: {} } }, 0.5),
          }),
        }
      : {}),
    ...some(
      { progressToken: pick([1, 't', 'x'.repeat(200)]), 'perdure/idempotencyKey': pick(['k1', 'k2', '', 'a b']) },
      0.2,
    ),
  })

  const paramsOf = (method: string, name: string): Record<string, unknown> => {
    if (method === 'tools/call') {
      const answers = some({ inputResponses: orOdd({ [id()]: answer() }), requestState: id() }, 0.15)
      return { name: orOdd(name), arguments: orOdd(args(name)), ...answers }
    }
    if (method.startsWith('tasks/')) return { taskId: orOdd(id()), inputResponses: orOdd({ [id()]: answer() }) }
    if (method === 'initialize')
      return { protocolVersion: pick(['2025-11-25', '1', MODERN]), capabilities: orOdd({ elicitation: {} }) }
    return method === 'subscriptions/listen'
      ? { notifications: orOdd({ taskIds: orOdd([id()]) }) }
      : some({ cursor: id() }, 0.3)
  }

  return (): ForgedMessage => {
    if (chance(0.1)) return { headers: [], body: JSON.stringify({ jsonrpc: '2.0', id: id(), result: orOdd(answer()) }) }
    const isModern = chance(0.5)
    const method = pick(METHODS)
    const params = paramsOf(method, pick(TOOLS))
    const named = params.name ?? params.taskId
    const headers: [string, string][] = isModern
      ? [
          ['MCP-Protocol-Version', MODERN],
          ['Mcp-Method', method],
          ...(typeof named === 'string' && /^[\x21-\x7e]+$/.test(named)
            ? [['Mcp-Name', named] as [string, string]]
            : []),
        ]
      : [['Mcp-Session-Id', pick(['perdure1-e', 'perdure1-n', 'x'])]]
    const accept: [string, string][] = chance(0.5) ? [['Accept', 'application/json, text/event-stream']] : []
    const sent = chance(0.05) ? headers.slice(1) : headers
    const message = {
      jsonrpc: '2.0',
      id: orOdd(pick([0, 1, 'a'])),
      method,
      params: { ...params, _meta: metaOf(isModern) },
    }
    return { headers: [...sent, ...accept], body: JSON.stringify(message) }
  }
}
