import { describe, expect, it } from 'vitest'
import { type DurableServer, eventually, startDurableServer } from './durable-server.ts'

const THREAD = 'journey-1'
const WORK = ['one', 'two', 'three', 'four', 'five']
const CALLS = ['one', 'two', 'nap', 'three', 'depart', 'first', 'four', 'second', 'five']

describe('a workflow whose server is killed between every two of its calls', () => {
  it('runs every step once, keeps its waits across each restart and produces the right result', async () => {
    const server = await startDurableServer()
    const runId = await server.execute('journey', THREAD, { isGated: true, napMs: 5_000 })
    let passed = 0

    /**
     * Kills and restarts the server while the run waits at a closed gate, waits until the run is back at the gate, then
     * opens the gate.
     */
    const killAtNextGate = async (done: number) => {
      const gate = `${THREAD}.${++passed}`
      const arrivals = () => server.ledger().filter((line) => line.startsWith(`at ${gate} `)).length
      await eventually(arrivals).toBe(1)
      expect(await namesOf(server)).toEqual(CALLS.slice(0, done))
      await server.restart()
      await eventually(arrivals).toBe(2)
      expect(await namesOf(server)).toEqual(CALLS.slice(0, done))
      server.openGate(gate)
    }
    /** Kills and restarts the server while the run is suspended; returns the earlier state, for comparison. */
    const killWhileWaitingFor = async (kind: string, name: string) => {
      await eventually(async () => (await server.state('journey', THREAD)).waitingFor).toMatchObject([{ kind, name }])
      await eventually(async () => (await server.state('journey', THREAD)).status).toBe('suspended')
      const before = await server.state('journey', THREAD)
      await server.restart()
      return before
    }
    const waitOn = async (before: Awaited<ReturnType<typeof killWhileWaitingFor>>) => {
      expect(await server.state('journey', THREAD)).toEqual(before)
      return before.waitingFor[0]
    }

    await killAtNextGate(1)
    await killAtNextGate(2)
    await killWhileWaitingFor('sleep', 'nap')
    await killAtNextGate(3)
    await killAtNextGate(4)
    await waitOn(await killWhileWaitingFor('event', 'depart'))
    expect((await server.post('/events/depart', { payload: { platform: 9 } })).body.wokenRunIds).toEqual([runId])
    await killAtNextGate(5)
    const first = await waitOn(await killWhileWaitingFor('approval', 'first'))
    expect((await server.resolve(first?.approvalId ?? '', true)).status).toBe(200)
    await killAtNextGate(6)
    await killAtNextGate(7)
    const second = await waitOn(await killWhileWaitingFor('approval', 'second'))
    expect((await server.resolve(second?.approvalId ?? '', false)).status).toBe(200)
    await killAtNextGate(8)

    await eventually(async () => (await server.run(runId)).status).toBe('completed')
    expect((await server.run(runId)).result).toEqual({
      steps: WORK.map((name) => `${name} done`),
      payload: { platform: 9 },
      decisions: [
        { approved: true, by: 'e2e' },
        { approved: false, by: 'e2e' },
      ],
    })
    expect(server.ledger().filter((line) => line.startsWith('did '))).toEqual(
      WORK.map((name) => `did ${THREAD} ${name} ${runId}.${CALLS.indexOf(name) + 1}`),
    )
    expect(await server.checkpoints('journey', THREAD)).toMatchObject([
      { seq: 1, step: 'one', result: 'one done' },
      { seq: 2, step: 'two', result: 'two done' },
      { seq: 3, step: 'nap', result: null },
      { seq: 4, step: 'three', result: 'three done' },
      { seq: 5, step: 'depart', result: { platform: 9 } },
      { seq: 6, step: 'first', result: { approved: true, by: 'e2e' } },
      { seq: 7, step: 'four', result: 'four done' },
      { seq: 8, step: 'second', result: { approved: false, by: 'e2e' } },
      { seq: 9, step: 'five', result: 'five done' },
    ])
    const state = await server.state('journey', THREAD)
    expect(state).toMatchObject({ status: 'completed', waitingFor: [] })
    expect(state.steps.map(({ name, status }) => `${name} ${status}`)).toEqual(CALLS.map((name) => `${name} completed`))
    const ended = (await server.events(runId)).filter(({ type }) => type === 'step.end')
    expect(ended.map(({ payload }) => payload.step)).toEqual(CALLS)
  })
})

const namesOf = async (server: DurableServer) => (await server.checkpoints('journey', THREAD)).map(({ step }) => step)
