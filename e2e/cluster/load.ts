import { type Client, pause } from './client.ts'

/** One thing that a client does, under a name that makes its keys unique. */
type Action = (client: Client, name: string) => Promise<void>

const runOf =
  (agentId: string): Action =>
  async (client, name) => {
    const input = { name, beforeMs: client.between(0, 60), afterMs: client.between(0, 60) }
    const sessionId = client.random() < 0.3 ? 'hall' : undefined
    const { body } = await client.ask({ path: `/agents/${agentId}/run`, key: name, body: { input, sessionId } })
    await client.untilOver(body.runId)
  }

const errand: Action = async (client, name) => {
  const input = { name, napMs: client.between(1, 1_500) }
  const { body } = await client.ask({ path: '/workflows/errand/execute', key: name, body: { input, threadId: name } })
  for (let turn = 0; ; turn++) {
    const state = await client.get(`/workflows/errand/state?threadId=${name}`)
    if (['completed', 'failed', 'aborted'].includes(state.body.status)) break
    const waits = state.body.waitingFor ?? []
    if (waits[0]?.kind === 'event')
      await client.ask({ path: `/events/event-${name}`, key: `${name}-event-${turn}`, body: {} })
    const approvalIds = waits.flatMap(({ approvalId }) => approvalId ?? [])
    await Promise.all(approvalIds.map((id) => decideTwice(client, `${name}-${turn}-${id}`, id)))
    await pause(20 + client.random() * 60)
  }
  const { body: run } = await client.get(`/runs/${body.runId}`)
  if (run.status !== 'completed') client.surprises.push(`the workflow of ${name} is ${run.status}`)
}

/** Two people decide at the same time, on different nodes; the first decision counts. */
async function decideTwice(client: Client, name: string, approvalId: string): Promise<void> {
  const path = `/approvals/${approvalId}/resolve`
  const decide = (who: string) =>
    client.ask({ path, key: `${name}-${who}`, body: { approved: true }, expected: [200, 409] })
  await Promise.all(['one', 'two'].map(decide))
}

/** Its code emits events that the run does not wait for: some of them when another server has resumed it. */
const nap: Action = async (client, name) => {
  const input = { name, turns: client.between(2, 8) }
  const { body } = await client.ask({ path: '/workflows/nap/execute', key: name, body: { input } })
  await client.untilOver(body.runId)
}

/** Two people decide the two approvals of a run at the same time, on different nodes; the last decision resumes the run. */
const council: Action = async (client, name) => {
  const { body } = await client.ask({ path: '/agents/council/stream', key: name })
  for (;;) {
    const state = await client.get(`/runs/${body.runId}/state`)
    if (state.body.status === 'suspended') {
      const approvalIds = (state.body.waitingFor ?? []).flatMap(({ approvalId }) => approvalId ?? [])
      await Promise.all(
        approvalIds.map((id) =>
          client.ask({
            ...{ path: `/approvals/${id}/resolve`, key: `${name}-${id}` },
            ...{ body: { approved: true }, expected: [200, 409] },
          }),
        ),
      )
    }
    if (['completed', 'failed', 'aborted'].includes(state.body.status)) break
    await pause(20)
  }
}

const session: Action = async (client, name) => {
  await client.ask({ path: '/sessions', key: name, body: { id: name, title: 'first' } })
  for (let n = 0; n < 3; n++) {
    const body = { title: `title ${n} of ${name}` }
    await client.ask({ method: 'PATCH', path: `/sessions/${name}`, key: `${name}-${n}`, body })
  }
}

/** Uses a token on all nodes while it is revoked, and for some time after that. */
const revokedToken: Action = async (client, name) => {
  const minted = await client.ask({ path: '/tokens', key: name, body: { name, scopes: ['agents:read'] } })
  const token = { name, secret: minted.body.token }
  const use = () => client.tryOnce({ method: 'GET', path: '/tokens/self', token })
  const using = (async () => {
    for (let n = 0; n < 5; n++) await use()
  })()
  await client.ask({ method: 'DELETE', path: `/tokens/${minted.body.id}`, key: `${name}-revoke` })
  client.revocations.push({ token: name, acknowledgedAt: Date.now() })
  await using
  await pause(1_000)
  for (let n = 0; n < 6; n++) await use()
}

/** Opens two sockets at the same time with one ticket. */
const ticket: Action = async (client, name) => {
  const { body } = await client.ask({ path: '/session/ws-ticket' })
  const opened = await Promise.all([1, 2].map(() => client.openSocket(body.ticket, name)))
  client.ticketUses.push({ name, accepted: opened.filter(Boolean).length })
}

const fire: Action = async (client, name) => {
  const { body } = await client.ask({ path: '/triggers/bell/fire', key: name })
  await client.untilOver(body.runId)
}

const abort: Action = async (client, name) => {
  const { body } = await client.ask({ path: '/agents/slow/stream', key: name, body: { input: { name, ms: 120_000 } } })
  // 409 when the run has ended with its node.
  await client.ask({ path: `/runs/${body.runId}/abort`, key: `${name}-abort`, expected: [200, 409] })
  await client.untilOver(body.runId)
}

/** Repeats a request with its key, as a client would that never saw the response. */
const repeat: Action = async (client) => {
  const all = [...client.keyed.values()]
  const asked = all[Math.floor(client.random() * all.length)]
  if (asked !== undefined) await client.ask(asked)
}

/** The actions, with their share in percent. */
const MIX: readonly (readonly [number, Action])[] = [
  [22, runOf('ledger')],
  [12, runOf('again')],
  [12, runOf('lane')],
  [10, errand],
  [8, nap],
  [4, council],
  [6, session],
  [5, revokedToken],
  [4, ticket],
  [6, fire],
  [4, abort],
  [7, repeat],
]

function pickAction(random: () => number): Action {
  let rest = random() * 100
  for (const [share, action] of MIX) {
    rest -= share
    if (rest < 0) return action
  }
  return repeat
}

/** Creates what the actions share: a session, and two triggers. Uses one ticket, so that every run has an accepted one. */
export async function prepare(client: Client): Promise<void> {
  await client.ask({ path: '/sessions', key: 'hall', body: { id: 'hall' } })
  const bell = { id: 'bell', kind: 'event', event: 'ring', overlap: 'allow', target: { agentId: 'again', input: {} } }
  await client.ask({ path: '/triggers', key: 'bell', body: bell })
  const times = { kind: 'interval', intervalMs: 1_000, catchUp: 'all', maxCatchUp: 100, overlap: 'allow' }
  const beat = { id: 'beat', ...times, target: { agentId: 'beat', input: {} } }
  await client.ask({ path: '/triggers', key: 'beat', body: beat })
  await ticket(client, 'prepare')
}

export interface Load {
  /** How many actions are done so far. */
  readonly actions: () => number
  /** Resolves when every client has finished its last action. */
  stop(): Promise<void>
}

/** Lets clients act, each with small pauses, until `stop`. */
export function startLoad(client: Client, clients: number): Load {
  let isLast = false
  let actions = 0
  const act = async (number: number) => {
    for (let n = 0; !isLast; n++, actions++) {
      await pickAction(client.random)(client, `c${number}-${n}`)
      await pause(client.random() * 50)
    }
  }
  const work = Promise.all(Array.from({ length: clients }, (_, number) => act(number)))
  work.catch(() => undefined)
  return {
    actions: () => actions,
    async stop() {
      isLast = true
      await work
    },
  }
}
