import { describe, expect, it } from 'vitest'
import { type DevBanner, devBanner } from './dev-banner.ts'

const facts: DevBanner = {
  version: '0.1.0',
  url: 'http://127.0.0.1:8080/v1',
  cwd: '/home/me',
  storagePath: '/home/me/.graphorin/data.db',
  pepperPath: '/home/me/.graphorin/dev-pepper',
  token: 'perdure_local_v1_abc',
  agentIds: ['echo', 'digest'],
  workflowIds: ['refund'],
  triggerIds: [],
  hasDocs: true,
  watched: undefined,
  keys: undefined,
  exampleFile: 'README.md',
}

const curls = (banner: string) => banner.split('\n').filter((line) => line.startsWith('curl '))

describe('devBanner', () => {
  it('starts with the address and ends with three curl commands', () => {
    const lines = devBanner(facts).trimEnd().split('\n')

    expect(lines[0]).toBe('listening on http://127.0.0.1:8080/v1')
    expect(lines.slice(-3)).toEqual(curls(devBanner(facts)))
  })

  it('lists agents, triggers and workflows', () => {
    expect(devBanner(facts)).toMatch(/^ {2}Agents {5}echo, digest {4}Triggers {3}none$/m)
    expect(devBanner(facts)).toMatch(/^ {2}Workflows {2}refund$/m)
    expect(devBanner({ ...facts, workflowIds: [] })).not.toContain('Workflows')
  })

  it('shows watched files and keys only if there are any', () => {
    const lines = devBanner({ ...facts, watched: 'perdure.config.mjs, agents/**', keys: 'q quit' })
      .trimEnd()
      .split('\n')

    expect(lines.at(-1)).toBe('  watching perdure.config.mjs, agents/**   ·   q quit')
    expect(devBanner(facts)).not.toMatch(/watching|quit/)
  })

  it('prints commands that run echo, stream digest and list runs, each with the token', () => {
    const [run, stream, list] = curls(devBanner(facts))

    expect(run).toContain('/v1/agents/echo/run')
    expect(stream).toMatch(/^curl -sNw .*\/v1\/agents\/digest\/stream .*text\/event-stream.*"file":"README\.md"/)
    expect(list).toContain('/v1/runs')
    for (const line of [run, stream, list]) expect(line).toContain("'Authorization: Bearer perdure_local_v1_abc'")
  })

  it('prints curl commands that end every response with a line break', () => {
    for (const line of curls(devBanner(facts))) expect(line).toMatch(/^curl -sN?w '\\n' /)
  })

  it('prints commands with valid JSON bodies', () => {
    for (const exampleFile of ['README.md', undefined]) {
      const bodies = curls(devBanner({ ...facts, exampleFile })).flatMap((line) => / -d '(.*)'$/.exec(line)?.[1] ?? [])

      expect(bodies.map((body) => Object.keys(JSON.parse(body)))).toEqual([['input'], ['input']])
    }
  })

  it('uses a registered agent in the examples', () => {
    const [run, stream] = curls(devBanner({ ...facts, agentIds: ['mine'] }))

    expect(run).toContain('/agents/mine/run')
    expect(stream).toContain('/agents/mine/stream')
  })

  it('omits the token when none is needed', () => {
    const banner = devBanner({ ...facts, token: undefined, pepperPath: undefined })

    expect(banner).toContain('none needed')
    expect(banner).not.toContain('Authorization')
    expect(banner).not.toContain('Pepper')
  })
})
