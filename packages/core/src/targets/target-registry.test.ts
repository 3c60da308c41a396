import { describe, expect, it } from 'vitest'
import { agentOf, workflowOf } from '../engine/test-engine.fixture.ts'
import type { AgentRegistration } from './agent.ts'
import { createAgentRegistry } from './agent-registry.ts'
import type { RegistrationOptions } from './registration.ts'
import { targetsOf } from './target-registry.ts'
import { createWorkflowRegistry } from './workflow-registry.ts'

const code = async () => 1
const schema = { '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) } } as const

describe('register', () => {
  it('fills in the defaults, with different values of onCrash for agents and workflows', () => {
    const agents = createAgentRegistry()
    const workflows = createWorkflowRegistry()
    agents.register(agentOf('echo', code))
    workflows.register(workflowOf('flow', code))

    const shared = {
      concurrency: 'parallel',
      onBusy: 'reject',
      onBusyChoices: ['reject'],
      onBusyWaiting: 'start',
      recoveries: 2,
      stallTimeoutMs: 600_000,
      retries: { max: 0 },
      tags: [],
    }
    expect(agents.get('echo')).toEqual({
      ...{ kind: 'agent', id: 'echo', description: 'The echo agent.', onCrash: 'fail' },
      ...shared,
      call: expect.any(Function),
    })
    expect(workflows.get('flow')).toMatchObject({ kind: 'workflow', id: 'flow', onCrash: 'retry', ...shared })
  })

  it('keeps the given options, and treats undefined as missing', () => {
    const agents = createAgentRegistry()
    const given: Partial<RegistrationOptions> = {
      ...({ input: schema, concurrency: 'session', onBusy: 'queue', onCrash: 'retry', recoveries: 0 } as const),
      ...{ timeout: '5s', tags: ['a'], budget: { tokens: 5, maxDuration: '2h' } },
      ...{ rateLimit: { limit: 2, period: 10 }, debounce: { period: 10, key: 'user' } },
    }
    const missing = Object.fromEntries(Object.keys(given).map((name) => [name, undefined]))
    agents.register(agentOf('echo', code, given))
    agents.register(agentOf('plain', code, missing))

    const { timeout, rateLimit, debounce, budget, ...same } = given
    expect(agents.get('echo')).toMatchObject({
      ...same,
      budget: { tokens: 5, maxDuration: 7_200_000 },
      ...{ timeoutMs: 5_000, rateLimit: { limit: 2, periodMs: 10 }, debounce: { periodMs: 10, key: 'user' } },
    })
    expect([timeout, rateLimit, debounce, budget]).not.toContain(undefined)
    expect(agents.get('plain')).toMatchObject({
      concurrency: 'parallel',
      onCrash: 'fail',
      recoveries: 2,
      stallTimeoutMs: 600_000,
      tags: [],
    })
    expect(Object.keys(agents.get('plain'))).not.toContain('timeoutMs')
  })

  it('takes the code from run, shows the id without a description, and repeats it after a crash', () => {
    const agents = createAgentRegistry()
    const workflows = createWorkflowRegistry()
    agents.register({ id: 'a', run: (input) => [input] })
    workflows.register({ id: 'w', run: (input) => [input] })

    expect(agents.get('a')).toMatchObject({ description: 'a', onCrash: 'retry' })
    expect(workflows.get('w')).toMatchObject({ description: 'w', onCrash: 'retry' })
    expect(agents.get('a').call(1, {} as never)).toEqual([1])
  })

  it('calls the code as a method of the registered object', () => {
    const agents = createAgentRegistry()
    const workflows = createWorkflowRegistry()
    agents.register({
      id: 'a',
      description: '',
      agent: {
        id: 'own',
        async run(input) {
          return [this.id, input]
        },
      },
    })
    workflows.register({
      id: 'w',
      description: '',
      workflow: {
        id: 'own',
        async execute(input) {
          return [this.id, input]
        },
      },
    })

    const targets = targetsOf(agents, workflows)
    const called = [targets.get('agent', 'a').call(1, {} as never), targets.get('workflow', 'w').call(2, {} as never)]

    return expect(Promise.all(called)).resolves.toEqual([
      ['own', 1],
      ['own', 2],
    ])
  })

  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['null', null],
    ['a missing id', { ...agentOf('x', code), id: undefined }],
    ['an empty id', agentOf('', code)],
    ['an id with a slash', agentOf('a/b', code)],
    ['an id that begins with a dash', agentOf('-a', code)],
    ['an id of 129 characters', agentOf('x'.repeat(129), code)],
    ['a description that is not a text', { ...agentOf('x', code), description: 5 }],
    ['code in two places', { ...agentOf('x', code), run: code }],
    ['a run that is not a function', { id: 'x', run: 'code' }],
    ['no code', { id: 'x' }],
    ['retries that are not a number', { ...agentOf('x', code), retries: '3' }],
    ['retries without a maximum', { ...agentOf('x', code), retries: { delay: '1s' } }],
    ['a duration in another form', { ...agentOf('x', code), timeout: '5 minutes' }],
    ['a missing agent', { id: 'x', description: '' }],
    ['an agent without run', { id: 'x', description: '', agent: { id: 'x' } }],
    ['a protocol that does not exist', { ...agentOf('x', code), protocols: { chat: true } }],
    ['a protocol that is not a boolean', { ...agentOf('x', code), protocols: { mcp: 'off' } }],
    ['errors that are a boolean', { ...agentOf('x', code), protocols: { errors: true } }],
    ['protocols: true', { ...agentOf('x', code), protocols: true }],
    ['a fromChat that is not a function', { ...agentOf('x', code), fromChat: 'text' }],
    ['an input that is not a schema', { ...agentOf('x', code), input: {} }],
    ['an output that is not a schema', { ...agentOf('x', code), output: null }],
    ['an unknown concurrency', { ...agentOf('x', code), concurrency: 'none' }],
    ['a rate limit without a period', { ...agentOf('x', code), rateLimit: { limit: 1 } }],
    ['a debounce without a key', { ...agentOf('x', code), debounce: { period: 1 } }],
    ['an unknown onBusy', { ...agentOf('x', code), onBusy: 'wait' }],
    ['an unknown onCrash', { ...agentOf('x', code), onCrash: 'ask' }],
    ['an unknown value of effects', { ...agentOf('x', code), effects: 'some' }],
    ['recoveries: -1', agentOf('x', code, { recoveries: -1 })],
    ['a timeout of 0', agentOf('x', code, { timeout: 0 })],
    ['a budget with a wrong duration', agentOf('x', code, { budget: { maxDuration: '2 hours' as never } })],
    ['a budget of 0 tokens', agentOf('x', code, { budget: { tokens: 0 } })],
    ['a budget with an unknown limit', { ...agentOf('x', code), budget: { euros: 1 } }],
    ['a string instead of a number', { ...agentOf('x', code), timeout: '5' }],
  ])('rejects %s', (_, registration) => {
    const agents = createAgentRegistry()

    expect(() => agents.register(registration as AgentRegistration)).toThrow(
      expect.objectContaining({ name: 'StartError', kind: 'config-invalid', hint: expect.any(String) }),
    )
    expect(agents.list()).toEqual([])
  })

  it('names the invalid member of an option', () => {
    const agents = createAgentRegistry()

    expect(() => agents.register(agentOf('x', code, { rateLimit: { limit: 1, period: 0 } }))).toThrow(
      'agent "x": rateLimit.period must be a duration from 1 to 86400000 milliseconds',
    )
  })

  it('names the protocols if an option has another one', () => {
    const agents = createAgentRegistry()

    expect(() => agents.register({ ...agentOf('x', code), protocols: { a2a: true } } as never)).toThrow(
      'agent "x": protocols must be false, or contain only the booleans aiSdk, agUi, openai, mcp and errors',
    )
  })

  it('rejects the option effects of a workflow', () => {
    const workflows = createWorkflowRegistry()

    expect(() => workflows.register({ ...workflowOf('w', code), effects: 'none' })).toThrow('effects is for agents')
  })

  it('rejects a workflow without an execute function', () => {
    const workflows = createWorkflowRegistry()

    expect(() => workflows.register({ id: 'w', description: '', workflow: { id: 'w' } } as never)).toThrow(
      'workflow.execute must be a function',
    )
  })

  it('rejects a duplicate id and keeps the first registration', () => {
    const agents = createAgentRegistry()
    agents.register(agentOf('echo', code, { tags: ['first'] }))

    expect(() => agents.register(agentOf('echo', code, { tags: ['second'] }))).toThrow('already registered')
    expect(agents.get('echo').tags).toEqual(['first'])
  })
})

describe('targetsOf', () => {
  it('finds only registered agents and workflows', () => {
    const agents = createAgentRegistry()
    const workflows = createWorkflowRegistry()
    agents.register(agentOf('echo', code))
    const targets = targetsOf(agents, workflows)

    expect(targets.find('agent', 'echo')).toBe(agents.get('echo'))
    expect(targets.find('workflow', 'echo')).toBeUndefined()
    expect(() => targets.get('agent', 'toString')).toThrow(expect.objectContaining({ code: 'agent-not-found' }))
    expect(() => targets.get('workflow', 'echo')).toThrow(expect.objectContaining({ code: 'workflow-not-found' }))
  })
})

describe('list', () => {
  it('returns agents in id order, whatever the order of registration', () => {
    const agents = createAgentRegistry()
    for (const id of ['b', 'a', 'C', 'a-2']) agents.register(agentOf(id, code))

    expect(agents.list().map(({ id }) => id)).toEqual(['C', 'a', 'a-2', 'b'])
  })
})
