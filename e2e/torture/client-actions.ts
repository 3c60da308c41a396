import { checkRun, expectEffects, expectRevoked, expectSame } from './run-checks.ts'
import { type Answer, pause, type World } from './world.ts'

/** Checks, after the last start, that acknowledged changes are still there. */
export type Verify = () => Promise<void>

/** One client action under its own name; repeats its requests until they are answered. */
export type ClientAction = (world: World, name: string) => Promise<Verify>

const runOf =
  (agentId: string): ClientAction =>
  async (world, name) => {
    const input = { name, beforeMs: world.between(0, 30), afterMs: world.between(0, 40) }
    const sessionId = world.random() < 0.2 ? 'hall' : undefined
    const answer = await world.ask({ path: `/agents/${agentId}/run`, key: name, body: { input, sessionId } })
    if (answer.status !== 200) world.violate('I1', `${name}: ${answer.status} ${answer.text}`)
    return async () => {
      const run = await checkRun(world, answer.body)
      await expectEffects(world, name, run, agentId === 'again' ? 'resume' : 'fail')
    }
  }

/** Sends a request twice at the same time, for a run that is stored in one commit. */
const brief: ClientAction = async (world, name) => {
  const ask = { path: '/agents/brief/run', key: name, body: { input: { name } } }
  const answers = await Promise.all([world.ask(ask), world.ask(ask)])
  for (const { status, text } of answers) if (status !== 200) world.violate('I1', `${name}: ${status} ${text}`)
  return async () => {
    const run = await checkRun(world, answers[0].body)
    await expectEffects(world, name, run, 'resume')
  }
}

const streamed: ClientAction = async (world, name) => {
  const input = { name, count: world.between(1, 20), size: world.between(4, 2_000) }
  const { body } = await world.ask({ path: '/agents/stream/stream', key: name, body: { input } })
  const ended = await untilEnded(world, body.runId)
  return async () => {
    const run = await checkRun(world, ended.body)
    await expectEffects(world, name, run, 'fail')
  }
}

const suspended: ClientAction = async (world, name) => {
  const started = await world.ask({ path: '/agents/suspend/run', key: name, body: { input: { name } } })
  const { runId, status, approvals = [] } = started.body
  if (status !== 'suspended') return () => checkRun(world, started.body).then(() => undefined)
  const body = { approvals: approvals.map(({ id }) => ({ id, approved: true })) }
  const resumed = await world.ask({ path: `/runs/${runId}/resume`, key: `${name}-resume`, body })
  if (resumed.status !== 200) world.violate('I1', `${name}: ${resumed.status} ${resumed.text}`)
  return async () => {
    expectSame(world, 'I4', `${name} run id`, [runId, resumed.body.runId])
    const run = await checkRun(world, resumed.body)
    await expectEffects(world, name, run, 'fail')
  }
}

const errand: ClientAction = async (world, name) => {
  const body = { input: { name }, threadId: name }
  const { body: accepted } = await world.ask({ path: '/workflows/errand/execute', key: name, body })
  let decisions = 0
  for (;;) {
    const state = await world.ask({ method: 'GET', path: `/workflows/errand/state?threadId=${name}` })
    if (isOver(state.body.status)) break
    for (const { approvalId } of state.body.waitingFor ?? []) {
      if (approvalId === undefined) continue
      const path = `/approvals/${approvalId}/resolve`
      const decided = await world.ask({ path, key: `${name}-decide-${decisions++}`, body: { approved: true } })
      if (decided.status !== 200) world.violate('I1', `${name}: ${decided.status} ${decided.text}`)
    }
    await pause(5 + world.random() * 30)
  }
  return async () => {
    const run = await checkRun(world, { ...accepted, status: 'completed', finishReason: 'completed' })
    expectSame(world, 'I1', `${name} result`, [{ sum: 3, approved: true }, run.result])
    for (const step of ['first', 'second']) {
      const lines = world.effects(`${name}/${step}`)
      const attempts = lines.map((line) => line.split(' ')[2])
      // A step in flight at a crash runs again, once per attempt, with the same effect id.
      if (lines.length === 0 || new Set(attempts).size !== lines.length || lines.length > run.attempt) {
        world.violate('I2', `${name}: the step ${step} left ${JSON.stringify(lines)} in ${run.attempt} attempts`)
      }
      if (new Set(lines.map((line) => line.split(' ')[1])).size > 1) world.violate('I2', `${name}: two effect ids`)
    }
  }
}

const session: ClientAction = async (world, name) => {
  const created = await world.ask({ path: '/sessions', key: name, body: { id: name, title: 'first' } })
  if (created.status !== 201) world.violate('I1', `${name}: ${created.status} ${created.text}`)
  const path = `/sessions/${name}`
  const patched = await world.ask({ method: 'PATCH', path, key: `${name}-title`, body: { title: `title of ${name}` } })
  const isDeleted = world.random() < 0.3
  if (isDeleted) {
    await world.ask({ method: 'DELETE', path, key: `${name}-delete` })
    world.expectGone([name, `${name}-title`])
  }
  return async () => {
    const now = await world.ask({ method: 'GET', path })
    expectSame(world, 'I1', `${name} status`, [isDeleted ? 404 : 200, now.status])
    if (!isDeleted) expectSame(world, 'I1', name, [patched.body, now.body])
  }
}

const memory: ClientAction = async (world, name) => {
  const written = await world.ask({ path: '/memory/facts', key: name, body: { text: `fact ${name}`, namespace: name } })
  const path = `/memory/facts/${written.body.id}`
  const changed = await world.ask({ method: 'PATCH', path, key: `${name}-change`, body: { text: `changed ${name}` } })
  const isDeleted = world.random() < 0.3
  if (isDeleted) await world.ask({ method: 'DELETE', path, key: `${name}-delete` })
  const value = { value: `value of ${name}`, namespace: name }
  const block = await world.ask({ method: 'PUT', path: '/memory/blocks/note', key: `${name}-block`, body: value })
  return async () => {
    const fact = await world.ask({ method: 'GET', path })
    expectSame(world, 'I1', `${name} fact`, [isDeleted ? 404 : 200, fact.status])
    if (!isDeleted) expectSame(world, 'I1', `${name} text`, [changed.body.text, fact.body.text])
    const blocks = await world.ask({ method: 'GET', path: `/memory/blocks?namespace=${name}` })
    expectSame(world, 'I1', `${name} blocks`, [[block.body.value], blocks.body.items.map((one) => one.value)])
  }
}

const tokenLifecycle: ClientAction = async (world, name) => {
  const body = { name, scopes: ['agents:read'] }
  const { body: minted } = await world.ask({ path: '/tokens', key: name, body })
  const { id, token } = minted
  const self = () => world.ask({ method: 'GET', path: '/tokens/self', token })
  if ((await self()).status !== 200) world.violate('I1', `${name}: the new token is not accepted`)
  const isRevoked = world.random() < 0.6
  if (isRevoked) await world.ask({ method: 'DELETE', path: `/tokens/${id}`, key: `${name}-revoke` })
  return async () => {
    if (isRevoked) await expectRevoked(world, name, token)
    else expectSame(world, 'I1', `${name} answers`, [200, (await self()).status])
  }
}

const fireTrigger: ClientAction = async (world, name) => {
  const fired = await world.ask({ path: '/triggers/bell/fire', key: name })
  if (fired.status !== 202) world.violate('I1', `${name}: ${fired.status} ${fired.text}`)
  const ended = await untilEnded(world, fired.body.runId)
  return async () => {
    const run = await checkRun(world, ended.body)
    await expectEffects(world, run.id, run, 'fail')
  }
}

const aborted: ClientAction = async (world, name) => {
  const agentId = world.random() < 0.5 ? 'slow' : 'leak'
  const { body } = await world.ask({ path: `/agents/${agentId}/stream`, key: name, body: { input: { ms: 60_000 } } })
  const abort = await world.ask({ path: `/runs/${body.runId}/abort`, key: `${name}-abort` })
  // 409 when a crash has already ended the run.
  if (![200, 409].includes(abort.status)) world.violate('I1', `${name}: ${abort.status} ${abort.text}`)
  const ended = await untilEnded(world, body.runId)
  return async () => {
    const run = await checkRun(world, ended.body)
    const expected = abort.status === 200 ? 'aborted' : 'interrupted'
    expectSame(world, 'I1', `${name} finish reason`, [expected, run.finishReason])
  }
}

const isOver = (status: string) => ['completed', 'failed', 'aborted'].includes(status)

async function untilEnded(world: World, runId: string): Promise<Answer> {
  for (;;) {
    const answer = await world.ask({ method: 'GET', path: `/runs/${runId}/state` })
    if (answer.status !== 200) world.violate('I1', `${runId}: ${answer.status} ${answer.text}`)
    if (answer.status !== 200 || isOver(answer.body.status)) return answer
    await pause(5 + world.random() * 20)
  }
}

/** The actions of clients, with their share in percent. */
export const ACTION_MIX: readonly (readonly [number, ClientAction])[] = [
  [34, runOf('ledger')],
  [10, brief],
  [6, runOf('again')],
  [4, runOf('throws')],
  [6, streamed],
  [5, suspended],
  [5, errand],
  [5, session],
  [5, memory],
  [10, tokenLifecycle],
  [7, fireTrigger],
  [3, aborted],
]

export function pickAction(random: () => number): ClientAction {
  let rest = random() * 100
  for (const [share, action] of ACTION_MIX) {
    rest -= share
    if (rest < 0) return action
  }
  return runOf('ledger')
}
