import { describe, expect, it } from 'vitest'
import { parseConfig } from '../config.ts'
import { createServer } from '../create-server.ts'
import type { ServerOptions } from '../server-options.ts'
import { openTokenAdmin } from './token-admin.ts'

const agent = { id: 'a', run: async () => 1 }
const workflow = { id: 'w', execute: async () => 1 }
const registered = (more: object) => ({ agents: [{ id: 'a', description: '', agent, ...more }] })

const refusalOf = (options: unknown) =>
  createServer(options as ServerOptions).then(
    () => 'accepted',
    (error: unknown) => error,
  )

describe('createServer', () => {
  it.each([
    ['adapters.strage', { adapters: { strage: {} } }],
    ['adapters.storage', { adapters: { storage: 'sqlite' } }],
    ['adapters.clock', { adapters: { clock: null } }],
    ['adapters.secretResolvers', { adapters: { secretResolvers: {} } }],
    ['adapters', { adapters: [] }],
    ['adapters', { adapters: 1 }],
    ['hooks.onStart', { hooks: { onStart: () => undefined } }],
    ['hooks.onReady', { hooks: { onReady: 'later' } }],
    ['hooks', { hooks: new Map() }],
    ['agent "a".onbusy', registered({ onbusy: 'queue' })],
    ['agent "a".toString', registered({ toString: () => 'a' })],
    ['agent "a".tags', registered({ tags: 'one' })],
    ['agent "a": tags', registered({ tags: ['one', 2] })],
    ['workflow "w".retires', { workflows: [{ id: 'w', description: '', workflow, retires: 3 }] }],
    ['workflow "w".agent', { workflows: [{ id: 'w', description: '', workflow, agent }] }],
    ['agents: expected an object', { agents: [undefined] }],
    ['agents', { agents: {} }],
    ['trigger', { trigger: [] }],
    ['options', []],
    ['server', { config: { server: [] } }],
    ['configuration', { config: [] }],
    ['server.host: must', { config: { server: { host: '' } } }],
    ['server.basePath: must', { config: { server: { basePath: '/../v1' } } }],
    ['server.idempotency.ttlSeconds', { config: { server: { idempotency: { ttlSeconds: 1e300 } } } }],
  ])('rejects invalid options with config-invalid and names %s', async (path, options) => {
    expect(await refusalOf(options)).toMatchObject({
      kind: 'config-invalid',
      message: expect.stringMatching(new RegExp(`^${path.replace('.', '\\.')}\\b`)),
      hint: expect.stringMatching(/./),
    })
  })

  it.each([
    [undefined, 'undefined; is it imported correctly?'],
    [async function triage() {}, 'the function triage'],
    [class Triage {}, 'the function Triage'],
    [[agent], 'an array'],
    [new Map(), 'an instance of a class'],
    ['triage', 'a string'],
  ])('says what is among the agents instead of a registration: %s', async (given, what) => {
    expect(await refusalOf({ agents: [given] })).toMatchObject({
      kind: 'config-invalid',
      message: `agents: expected an object made by defineAgent({ id, run }), got ${what}`,
    })
  })

  it.each([
    ['agent', { agents: [{ id: 'x', description: '', agent: { ...agent, id: 'y' } }] }],
    ['workflow', { workflows: [{ id: 'x', description: '', workflow: { ...workflow, id: 'y' } }] }],
  ])('rejects an id in the code that differs from the id of the registration: %s', async (kind, options) => {
    expect(await refusalOf(options)).toMatchObject({
      kind: 'config-invalid',
      message: `${kind} "x": ${kind}.id is "y"`,
      hint: `remove ${kind}.id, or set both ids to the same text`,
    })
  })

  it('accepts code without an id of its own', async () => {
    const { run } = agent
    const { execute } = workflow
    const registrations = {
      agents: [{ id: 'a', description: '', agent: { run } }],
      workflows: [{ id: 'w', description: '', workflow: { execute } }],
    }

    expect(await refusalOf(registrations)).toBe('accepted')
  })

  it('accepts undefined members, class instances as adapters, and every member of a registration', async () => {
    class Clock {
      now = () => 0
      monotonicMs = () => 0
    }
    const whole = {
      concurrency: 'single',
      onBusy: 'queue',
      onCrash: 'retry',
      recoveries: 1,
      timeout: 9,
      tags: ['x'],
    }
    const options = {
      ...registered(whole),
      adapters: { clock: new Clock(), storage: undefined },
      hooks: { onReady: undefined },
    }

    expect(await refusalOf(options)).toBe('accepted')
  })

  it('checks later registrations too', async () => {
    const server = await createServer()
    const late = { id: 'a', description: '', agent, onbusy: 'queue' }

    expect(() => server.agents.register(late)).toThrow(expect.objectContaining({ kind: 'config-invalid' }))
  })
})

describe('openTokenAdmin', () => {
  it('rejects unknown adapters', async () => {
    const adapters = { strage: {} } as never

    await expect(openTokenAdmin(parseConfig({}), { adapters })).rejects.toMatchObject({
      kind: 'config-invalid',
      message: expect.stringContaining('adapters.strage'),
    })
  })
})
