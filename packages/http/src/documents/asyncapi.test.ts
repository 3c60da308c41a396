import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import specifications from '@asyncapi/specs'
import { AGENT_EVENT_SUBJECTS, CLOSE_CODES, EVENTS, type EventSpec, RPC_METHODS, SUBJECTS } from '@perdure/protocol'
import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import { describe, expect, it } from 'vitest'
import { buildAsyncApi } from './asyncapi.ts'

interface Channel {
  readonly address: string
  readonly parameters?: Readonly<Record<string, unknown>>
  readonly messages: Readonly<Record<string, { readonly $ref: string }>>
}
interface Message {
  readonly name: string
  readonly payload: object
}
interface Document {
  readonly channels: Readonly<Record<string, Channel & { readonly 'x-perdure-close-codes'?: object }>>
  readonly operations: Readonly<
    Record<string, { readonly action: string; readonly channel: { readonly $ref: string } }>
  >
  readonly components: { readonly messages: Readonly<Record<string, Message>>; readonly schemas: object }
}

const built = buildAsyncApi({ basePath: '/v1', version: '0.1.0' })
const document = JSON.parse(JSON.stringify(built)) as Document

function validator() {
  const ajv = new Ajv({ strict: false, allErrors: true, meta: false, validateSchema: false })
  addFormats.default(ajv)
  return ajv.compile(specifications.schemas['3.0.0'] as object)
}

function resolve(pointer: string): unknown {
  const steps = pointer.replace(/^#\//, '').split('/')
  return steps.reduce<unknown>(
    (value, step) => (value as Readonly<Record<string, unknown>> | undefined)?.[step],
    document,
  )
}

const messageNames = ({ messages }: Channel) =>
  Object.values(messages).map(({ $ref }) => (resolve($ref) as Message).name)

describe('the AsyncAPI document', () => {
  it('is valid against the AsyncAPI 3.0.0 schema', () => {
    const validate = validator()

    const isValid = validate(document)

    expect(validate.errors).toBeNull()
    expect(isValid).toBe(true)
    expect(validate({ ...document, asyncapi: '3.0.0', channels: { broken: { address: 1 } } })).toBe(false)
  })

  it('passes redocly lint without errors', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'perdure-asyncapi-'))
    const file = join(folder, 'asyncapi.json')
    await writeFile(file, JSON.stringify(document))
    const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
    const redocly = join(import.meta.dirname, '../../../../node_modules/.bin/redocly')

    const options = { cwd: folder, env, maxBuffer: 16_777_216 }
    const { stdout } = await promisify(execFile)(redocly, ['lint', file, '--format=json'], options)

    await rm(folder, { recursive: true })
    expect(JSON.parse(stdout.slice(stdout.indexOf('{')))).toMatchObject({ totals: { errors: 0 } })
  })

  it('has no dangling references', () => {
    const pointers = [...JSON.stringify(document).matchAll(/"\$ref":"(#[^"]+)"/g)].map(([, pointer = '']) => pointer)

    expect(pointers.length).toBeGreaterThan(100)
    expect(pointers.filter((pointer) => resolve(pointer) === undefined)).toEqual([])
  })

  it.each(Object.entries(SUBJECTS))('has the subject %s with its events', (name, { pattern }) => {
    const channel = document.channels[name]
    const types = Object.entries<EventSpec>(EVENTS).filter(([, { subjects }]) => subjects.some((one) => one === name))
    const ofAgents = AGENT_EVENT_SUBJECTS.some((one) => one === name) ? ['agentEvent'] : []

    expect(channel?.address).toBe(pattern)
    expect(Object.keys(channel?.parameters ?? {})).toEqual([...pattern.matchAll(/\{(\w+)\}/g)].map(([, id]) => id))
    expect(channel && messageNames(channel)).toEqual([...types.map(([type]) => type), ...ofAgents, 'replay-gap'])
  })

  it('declares that the server receives every method and sends every subject and stream', () => {
    const actions = Object.values(document.operations).map(({ action, channel }) => `${action} ${channel.$ref}`)
    const count = (action: string) => actions.filter((one) => one.startsWith(action)).length

    expect(count('receive')).toBe(Object.keys(RPC_METHODS).length)
    expect(count('send')).toBe(Object.keys(document.channels).length - 1)
    expect(document.channels.socket?.['x-perdure-close-codes']).toEqual(CLOSE_CODES)
    expect(document.channels.runsEventsStream?.address).toBe('/runs/{runId}/events')
    expect(document.channels.sessionsEventsStream?.address).toBe('/sessions/{sessionId}/events')
  })

  it('has a message schema that accepts its own events and rejects others', () => {
    const ajv = new Ajv({ strict: false })
    addFormats.default(ajv)
    ajv.addSchema({ $id: 'document', components: document.components })
    const payload = JSON.parse(
      JSON.stringify(document.components.messages.textDelta?.payload).replaceAll('"#/', '"document#/'),
    )
    const event = {
      eventId: 'epoch.7',
      subject: 'agent:echo/runs/run_1/events',
      type: 'text.delta',
      payload: { delta: 'hel', messageId: 'm' },
      at: '2026-01-01T00:00:00.000Z',
    }

    expect(ajv.validate(payload, event)).toBe(true)
    expect(ajv.validate(payload, { ...event, type: 'text.complete' })).toBe(false)
    expect(ajv.validate(payload, { ...event, payload: { delta: 7 } })).toBe(false)
  })
})
