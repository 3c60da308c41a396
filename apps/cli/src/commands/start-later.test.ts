import { describe, expect, it } from 'vitest'
import { served } from '../../test/served.ts'

const code = { run: async () => 'done' }
const agents = [
  { id: 'plain', description: 'plain', agent: code },
  { id: 'shared', description: 'shared', agent: code, concurrency: { limit: 3 } },
  { id: 'keyed', description: 'keyed', agent: code, concurrency: { limit: 2, key: () => 'a' } },
  { id: 'by-user', description: 'by user', agent: code, concurrency: { limit: 1, key: 'user' } },
] as const
const workflows = [{ id: 'flow', description: 'flow', workflow: { execute: async () => 'done' } }]

describe('a run with a start time', () => {
  const { perdure } = served({ agents, workflows })
  const json = async (...args: readonly string[]) => JSON.parse((await perdure(...args, '--json')).out)

  it.each([
    ['agents run plain --detach', '--delay', '1h'],
    ['agents run plain --detach', '--start-at', '2097-01-31T09:00:00+02:00'],
    ['workflows run flow', '--delay', '1h'],
    ['workflows run flow', '--start-at', '2097-01-31T09:00:00+02:00'],
  ])('is queued by %s %s, with its priority', async (command, flag, value) => {
    const before = Date.now()
    const { runId, status } = await json(...command.split(' '), flag, value, '--priority', '-5')
    const { priority, startAt } = await json('runs', 'show', runId)

    expect({ status, priority }).toEqual({ status: 'queued', priority: -5 })
    if (flag === '--start-at') expect(startAt).toBe('2097-01-31T07:00:00.000Z')
    else expect(Date.parse(startAt)).toBeGreaterThanOrEqual(before + 3_600_000)
  })

  it('is shown by runs show and runs list with its priority and start time', async () => {
    const { runId } = await json('agents', 'run', 'plain', '--detach', '--delay', '2h', '--priority', '7')
    const shown = await perdure('runs', 'show', runId)
    const [head = '', newest = ''] = (await perdure('runs', 'list', '--limit', '1')).out.split('\n')

    expect(shown.out).toMatch(/^priority\s+7$/m)
    expect(shown.out).toMatch(/^startAt\s+\d{4}-\d\d-\d\dT/m)
    expect(head).toMatch(/PRIORITY {2}STARTS$/)
    expect(newest).toMatch(/7\s+in 1 h$/)
    expect((await perdure('runs', 'abort', runId)).exitCode).toBe(0)
  })

  it('adds no column to a list of runs without priority and start time', async () => {
    await perdure('agents', 'run', 'plain')

    expect((await perdure('runs', 'list', '--status', 'completed')).out).not.toMatch(/PRIORITY|STARTS/)
  })

  it.each([
    ['--priority', '101', /a whole number from -100 to 100/],
    ['--priority', 'high', /a whole number from -100 to 100/],
    ['--delay', 'soon', /--delay is not a duration: soon/],
    ['--start-at', 'noon', /--start-at is not an ISO-8601 instant: noon/],
  ])('is rejected for %s %s', async (flag, value, message) => {
    const { exitCode, err } = await perdure('agents', 'run', 'plain', flag, value)

    expect(exitCode).toBe(2)
    expect(err).toMatch(message)
  })
})

describe('perdure agents list', () => {
  const { perdure } = served({ agents })

  it('shows the concurrency of each agent', async () => {
    const { out } = await perdure('agents', 'list')

    expect(out).toMatch(/^plain\s+parallel /m)
    expect(out).toMatch(/^shared\s+3 /m)
    expect(out).toMatch(/^keyed\s+2 per key /m)
    expect(out).toMatch(/^by-user\s+1 per user /m)
  })
})
