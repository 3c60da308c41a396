import { OPERATIONS, type Operation } from '@perdure/protocol'

export interface Asked {
  readonly operation: Operation
  readonly path: string
  readonly body: unknown
  readonly key: string | undefined
  readonly headers: Readonly<Record<string, string>>
}

/** Ids from the answers so far, by kind of resource. */
export type Known = Readonly<Record<'run' | 'fact' | 'token' | 'approval' | 'trigger' | 'conflict', string[]>>

export const nothingKnown = (): Known => ({ run: [], fact: [], token: [], approval: [], trigger: [], conflict: [] })

type Random = () => number

const AGENTS = ['plain', 'streams', 'asks', 'single', 'queued']
/**
 * Ids used in paths and bodies. Requests may delete only the sessions and threads in the `DOOMED_` lists, so all others
 * must still exist at the end.
 */
const SESSIONS = ['s-0', 's-1', 's-2']
const DOOMED_SESSIONS = ['d-0', 'd-1']
const THREADS = ['t-0', 't-1', 't-2']
const DOOMED_THREADS = ['u-0', 'u-1']

/** A server does not serve the console by default; a new stream of an MCP client is refused as that protocol demands. */
const isLeftOut = ({ id }: Operation) => id.startsWith('console.') || id.startsWith('mcp-server.resume')

/** Every operation except the WebSocket upgrade. */
export const ASKED_OPERATIONS = OPERATIONS.filter(
  (operation) => operation.responses[101] === undefined && !isLeftOut(operation),
)

/** Returns a function that makes a random request to an operation, mostly with a new key, using known ids. */
export function createRequests(random: Random, known: Known) {
  let keys = 0
  const pick = <T>(items: readonly T[]): T | undefined => items[Math.floor(random() * items.length)]
  const one = (kind: keyof Known) => pick(known[kind]) ?? 'unknown'
  const chance = (share: number) => random() < share

  const paramsOf = (id: string): Readonly<Record<string, string>> => ({
    agentId: pick(AGENTS) ?? '',
    runId: one('run'),
    approvalId: one('approval'),
    workflowId: 'flow',
    sessionId: pick(id === 'sessions.delete' ? DOOMED_SESSIONS : SESSIONS) ?? '',
    threadId: pick(DOOMED_THREADS) ?? '',
    factId: one('fact'),
    tokenId: one('token'),
    triggerId: one('trigger'),
    conflictId: one('conflict'),
    label: pick(['persona', 'goals']) ?? '',
    name: 'paid',
    skillName: 'none',
    serverId: 'none',
    toolName: 'none',
    deadLetterId: 'none',
  })

  const bodies = (key: string | undefined): Readonly<Record<string, () => unknown>> => {
    const metadata = key === undefined ? {} : { key }
    const runs = { input: { key }, metadata, ...(chance(0.5) ? { sessionId: pick(SESSIONS) } : {}) }
    return {
      'agents.run': () => runs,
      'agents.stream': () => runs,
      'workflows.execute': () => ({ ...runs, threadId: pick([...THREADS, ...DOOMED_THREADS]) }),
      'workflows.resume': () => ({ threadId: pick(THREADS), name: 'paid', payload: 1 }),
      'workflows.fork': () => ({ threadId: pick(THREADS) }),
      'runs.fork': () => ({ from: 'start' }),
      'approvals.resolve': () => ({ approved: true }),
      'sessions.create': () => ({ id: pick([...SESSIONS, ...DOOMED_SESSIONS]), metadata }),
      'sessions.update': () => ({ title: `title ${key}` }),
      'memory.create-fact': () => ({ text: `The number of ${key} is ${Math.floor(random() * 9)}.`, metadata }),
      'memory.update-fact': () => ({ importance: 0.5 }),
      'memory.search': () => ({ query: 'number' }),
      'memory.put-block': () => ({ value: `value ${key}` }),
      'memory.resolve-conflict': () => ({ keep: [one('fact')] }),
      'tokens.create': () => ({ name: key ?? 'none', scopes: ['agents:read'] }),
      'triggers.create': () => triggerOf(`trigger-${keys}`, pick(AGENTS)),
      'events.emit': () => ({ payload: { key } }),
      'skills.install': () => ({ source: 'nowhere' }),
      'mcp.bind': () => ({ id: 'files', transport: 'http', url: 'https://mcp.example/' }),
      'mcp.call': () => ({ arguments: {} }),
    }
  }

  return (operation: Operation): Asked => {
    const { id, path, method, idempotent } = operation
    const key = idempotent && chance(0.9) ? `key-${++keys}` : undefined
    const params = paramsOf(id)
    const filled = path.replace(/:(\w+)/g, (_, name: string) => params[name] ?? 'unknown')
    const query = id === 'workflows.state' || id === 'workflows.checkpoints' ? `?threadId=${pick(THREADS)}` : ''
    const isStream = chance(0.3) && Object.values(operation.responses).some(({ stream }) => stream === 'event-stream')
    const headers = {
      ...(isStream ? { Accept: 'text/event-stream' } : {}),
      ...(id === 'agents.run' && chance(0.4) ? { Prefer: 'respond-async' } : {}),
    }
    const body = method === 'GET' ? undefined : (bodies(key)[id]?.() ?? {})
    return { operation, path: `/v1${filled}${query}`, body, key, headers }
  }
}

const triggerOf = (id: string, agentId: string | undefined) => ({
  ...{ id, kind: 'event', event: 'paid', overlap: 'queue' },
  target: { agentId: agentId === 'asks' ? 'plain' : agentId },
})
