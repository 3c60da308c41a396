import type { Verify } from './client-actions.ts'
import { checkRun, expectEffects, expectRevoked, expectSame, failedOnFullDisk } from './run-checks.ts'
import { type Answer, type Ask, pause, type World } from './world.ts'

/**
 * Sends about thirty requests, one after the other, that cover every kind of write. `name` makes keys and ids unique,
 * so that the scenario can be repeated on one file. Resolves when every request is answered.
 */
export async function playScenario(world: World, name: string): Promise<Verify> {
  const verifies: Verify[] = []
  let step = 0

  const ask = async (expected: number, request: Ask): Promise<Answer> => {
    const isRead = request.method === 'GET'
    const answer = await world.ask(isRead ? request : { ...request, key: `${name}-${step++}` })
    if (answer.status !== expected) {
      world.violate('I1', `${name}: ${request.method ?? 'POST'} ${request.path} ${answer.status} ${answer.text}`)
    }
    return answer
  }
  const run = async (agentId: string, more: object = {}) => {
    const effect = `${name}-${step}`
    const { body } = await ask(200, { path: `/agents/${agentId}/run`, body: { input: { name: effect }, ...more } })
    verifies.push(async () => {
      const now = await checkRun(world, body)
      await expectEffects(world, effect, now, agentId === 'again' || agentId === 'brief' ? 'resume' : 'fail')
    })
    return body
  }
  const later = (check: Verify) => verifies.push(check)
  const read = (path: string) => world.ask({ method: 'GET', path })
  const expectStatus = (status: number, path: string) =>
    later(async () => expectSame(world, 'I1', path, [status, (await read(path)).status]))

  await ask(201, { path: '/sessions', body: { id: name, title: 'before' } })
  await run('ledger', { sessionId: name })
  const patched = await ask(200, { method: 'PATCH', path: `/sessions/${name}`, body: { title: 'after' } })
  later(async () =>
    expectSame(world, 'I1', 'title', [patched.body.title, (await read(`/sessions/${name}`)).body.title]),
  )
  await run('throws')
  await run('again')
  await run('brief')
  await ask(200, { path: `/sessions/${name}/replay`, body: {} })

  const suspended = await ask(200, { path: '/agents/suspend/run', body: { input: { name: `${name}-late` } } })
  const approvals = suspended.body.approvals?.map(({ id }) => ({ id, approved: true }))
  if (approvals !== undefined) {
    const resumed = await ask(200, { path: `/runs/${suspended.body.runId}/resume`, body: { approvals } })
    later(async () => await expectEffects(world, `${name}-late`, await checkRun(world, resumed.body), 'fail'))
  }

  const execution = { input: { name: `${name}-errand` }, threadId: `${name}-errand` }
  const errand = await ask(202, { path: '/workflows/errand/execute', body: execution })
  for (let isDecided = false; !isDecided; ) {
    const { body } = await read(`/workflows/errand/state?threadId=${name}-errand`)
    const [wait] = (body.waitingFor ?? []).filter(({ approvalId }) => approvalId !== undefined)
    if (wait === undefined) await pause(2)
    else await ask(200, { path: `/approvals/${wait.approvalId}/resolve`, body: { approved: true } })
    isDecided = wait !== undefined || body.status === 'failed'
  }
  const errandEnd = await untilEnded(world, errand.body.runId)
  later(async () => void (await checkRun(world, errandEnd.body)))
  if (!failedOnFullDisk(errandEnd.body)) expectSame(world, 'I1', `${name} errand`, ['completed', errandEnd.body.status])

  const streamed = await ask(202, { path: '/agents/stream/stream', body: { input: { name: `${name}-s`, count: 5 } } })
  const streamEnd = await untilEnded(world, streamed.body.runId)
  later(async () => await expectEffects(world, `${name}-s`, await checkRun(world, streamEnd.body), 'fail'))
  await ask(200, { path: `/runs/${streamed.body.runId}/replay`, body: {} })

  const slow = await ask(202, { path: '/agents/slow/stream', body: { input: { ms: 60_000 } } })
  const abort = await world.ask({ path: `/runs/${slow.body.runId}/abort`, key: `${name}-abort` })
  // 409 when a crash ended the run first.
  if (![200, 409].includes(abort.status)) world.violate('I1', `${name}: abort ${abort.status} ${abort.text}`)
  const slowEnd = await untilEnded(world, slow.body.runId)
  later(async () => void (await checkRun(world, slowEnd.body)))

  const minted = await ask(201, { path: '/tokens', body: { name, scopes: ['agents:read'] } })
  const rotated = await ask(201, { path: `/tokens/${minted.body.id}/rotate` })
  await ask(204, { method: 'DELETE', path: `/tokens/${rotated.body.id}` })
  later(() => expectRevoked(world, name, rotated.body.token))

  const bell = { id: `${name}-bell`, kind: 'event', event: name, target: { agentId: 'ledger', input: {} } }
  await ask(201, { path: '/triggers', body: bell })
  const fired = await ask(202, { path: `/triggers/${name}-bell/fire` })
  const firedEnd = await untilEnded(world, fired.body.runId)
  later(async () => {
    const ended = await checkRun(world, firedEnd.body)
    await expectEffects(world, ended.id, ended, 'fail')
  })
  await ask(202, { path: `/events/${name}`, body: { payload: 1 } })
  await ask(200, { path: `/triggers/${name}-bell/disable` })
  await ask(204, { method: 'DELETE', path: `/triggers/${name}-bell` })
  expectStatus(404, `/triggers/${name}-bell`)

  const fact = await ask(201, { path: '/memory/facts', body: { text: `a fact of ${name}`, namespace: name } })
  await ask(200, { method: 'PATCH', path: `/memory/facts/${fact.body.id}`, body: { text: `another of ${name}` } })
  await ask(204, { method: 'DELETE', path: `/memory/facts/${fact.body.id}` })
  expectStatus(404, `/memory/facts/${fact.body.id}`)
  await ask(200, { method: 'PUT', path: '/memory/blocks/note', body: { value: name, namespace: name } })

  const leaving = [`${name}-${step}`, `${name}-${step + 1}`]
  await ask(201, { path: '/sessions', body: { id: `${name}-gone` } })
  const lost = await ask(200, {
    path: '/agents/ledger/run',
    body: { input: { name: `${name}-x` }, sessionId: `${name}-gone` },
  })
  await ask(204, { method: 'DELETE', path: `/sessions/${name}-gone` })
  world.expectGone(leaving)
  expectStatus(404, `/sessions/${name}-gone`)
  expectStatus(404, `/runs/${lost.body.runId}`)

  return async () => {
    for (const verify of verifies) await verify()
  }
}

async function untilEnded(world: World, runId: string): Promise<Answer> {
  for (;;) {
    const answer = await world.ask({ method: 'GET', path: `/runs/${runId}/state` })
    if (answer.status !== 200 || ['completed', 'failed', 'aborted'].includes(answer.body.status)) return answer
    await pause(3)
  }
}
