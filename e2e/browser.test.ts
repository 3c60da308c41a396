import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { type ConnectionChange, createClient, type SubscriptionItem } from '../packages/client/src/index.ts'
import { needsTool } from '../tooling/needed-tool.ts'
import { type BrowserPage, openBrowserPage } from './browser-page.ts'
import { createLossyNetwork, type LossyNetwork } from './lossy-network.ts'
import {
  CLIENT_CONFIG,
  createSandbox,
  perdure,
  type RunningServer,
  type Sandbox,
  startServer,
} from './perdure-process.ts'

/** The state that the page reports as JSON. */
interface PageState {
  readonly items: SubscriptionItem[]
  readonly changes: ConnectionChange[]
  readonly ending?: 'ended' | { readonly code: string; readonly status: number; readonly closeCode?: number }
}

interface MintedToken {
  readonly id: string
  readonly token: string
}

const SUBJECT = 'session:browser/events'

let browser: BrowserPage
let sandbox: Sandbox
let server: RunningServer
let proxy: LossyNetwork
let page: Page
let admin: MintedToken

const start = async () => {
  server = await startServer(sandbox, ['server', '--config', CLIENT_CONFIG])
  proxy.target(Number(new URL(server.url).port))
}

const mint = async (scopes: string): Promise<MintedToken> => {
  const options = ['--scopes', scopes, '--name', 'page', '--subject', 'page', '--config', CLIENT_CONFIG, '--json']
  return JSON.parse((await perdure(sandbox, ['token', 'create', ...options])).stdout)
}

const evaluate = <Result>(expression: string): Promise<Result> => page.evaluate(expression)
const stateOf = () => evaluate<PageState>('window.perdure.state')
const baseUrl = () => `${proxy.origin}/v1`

const open = (options: { readonly token?: string; readonly ticket?: string }) =>
  evaluate(`window.perdure.open(${JSON.stringify({ baseUrl: baseUrl(), ...options })})`)

const follow = (subject: string, options = {}) =>
  evaluate(`void window.perdure.follow(${JSON.stringify(subject)}, ${JSON.stringify(options)})`)

const run = (agentId: string, input: object) =>
  evaluate<{ readonly runId: string }>(
    `window.perdure.run(${JSON.stringify(agentId)}, ${JSON.stringify({ input, sessionId: 'browser' })})`,
  )

const typesOf = ({ items }: PageState) => items.map((item) => (item.type === 'event' ? item.event.type : item.type))
const codesOf = ({ changes }: PageState) =>
  changes.flatMap((change) => (change.state === 'closed' ? [change.code] : []))
const seenTypes = async () => typesOf(await stateOf())
const seenCodes = async () => codesOf(await stateOf())

needsTool('chromium').describe('a page in Chromium', () => {
  beforeAll(async () => {
    browser = await openBrowserPage()
    proxy = await createLossyNetwork()
    sandbox = createSandbox({
      PERDURE_SERVER_CORS_ALLOW_ORIGINS: browser.origin,
      PERDURE_REALTIME_STALL_MS: '700',
    })
    admin = await mint('admin:*')
    await start()
  })

  afterEach(async () => {
    await browser.context.setOffline(false)
    proxy.open()
    await page.close()
  })

  afterAll(async () => {
    await browser?.close()
    await proxy?.close()
    await server?.kill('SIGTERM')
  })

  it.each(['websocket', 'sse'] as const)(
    'follows a run live over %s, reconnects after losing the network and receives every event once',
    async (transport) => {
      page = await browser.load()
      await open({ token: admin.token })
      const rest = createClient({ baseUrl: server.url, token: admin.token })
      const first = await rest.agents.run('echo', { input: transport, sessionId: 'browser' })
      const [newest] = (await rest.runs.events(first.runId, { order: 'desc', limit: 1 })).items
      await follow(SUBJECT, { transport, lastEventId: newest?.eventId })
      const before = await rest.runs.list({ sessionId: 'browser', limit: 200 }).all()

      const { runId } = await run('teller', { sentences: 40, everyMs: 100 })
      await expect
        .poll(async () => (await seenTypes()).filter((type) => type === 'text.delta').length)
        .toBeGreaterThan(4)
      proxy.shut()
      await browser.context.setOffline(true)
      const seenOffline = (await seenTypes()).length
      await expect.poll(async () => (await rest.runs.get(runId)).status).toBe('completed')
      expect(await seenTypes()).not.toContain('run.completed')
      proxy.open()
      await browser.context.setOffline(false)

      await expect.poll(seenTypes).toContain('run.completed')
      const { items } = await stateOf()
      const log = await rest.runs.events(runId, { order: 'asc', limit: 200 }).all()
      const ofRun = items.flatMap((item) => (item.type === 'event' && item.event.runId === runId ? [item.event] : []))
      expect(log.length).toBeGreaterThan(100)
      expect(seenOffline).toBeLessThan(log.length)
      const withoutSubject = (events: typeof log) => events.map(({ subject: _, ...event }) => event)
      expect(withoutSubject(ofRun)).toEqual(withoutSubject(log))
      expect(items.every(({ type }) => type === 'event')).toBe(true)
      expect((await rest.runs.list({ sessionId: 'browser', limit: 200 }).all()).length).toBe(before.length + 1)
    },
  )

  it.each([
    [4001, {}, 'auth-required'],
    [4002, { ticket: 'x'.repeat(43) }, 'auth-invalid'],
  ])('reports close code %i', async (code, credentials, error) => {
    page = await browser.load()
    await open(credentials)
    await follow(SUBJECT)

    await expect.poll(async () => (await stateOf()).ending).toMatchObject({ code: error, closeCode: code })
    expect(await seenCodes()).toEqual([code, code])
  })

  it('reports close code 4003 when its token is revoked from the command line', async () => {
    page = await browser.load()
    const mine = await mint('sessions:read,agents:read')
    await open({ token: mine.token })
    await follow(SUBJECT, { transport: 'websocket' })
    await expect.poll(async () => (await stateOf()).changes.at(-1)?.state).toBe('open')

    await perdure(sandbox, ['token', 'revoke', mine.id, '--config', CLIENT_CONFIG, '--json'])

    await expect.poll(seenCodes).toContain(4003)
    await expect.poll(async () => (await stateOf()).ending).toMatchObject({ code: 'auth-revoked', status: 401 })
  })

  it('reports close code 4004 without a scope that allows any subscription', async () => {
    page = await browser.load()
    await open({ token: (await mint('agents:invoke')).token })
    await follow(SUBJECT)

    await expect.poll(async () => (await stateOf()).ending).toMatchObject({ code: 'scope-denied', closeCode: 4004 })
  })

  it('reports close code 4005 after too many messages, and 4008 after a malformed message', async () => {
    page = await browser.load()
    await open({ token: admin.token })
    const url = JSON.stringify(`${baseUrl().replace('http', 'ws')}/ws`)
    const pings = JSON.stringify(Array.from({ length: 150 }, (_, id) => `{"jsonrpc":"2.0","id":${id},"method":"ping"}`))

    const flood = await evaluate(`window.perdure.closedWith(${url}, ${pings})`)
    const noise = await evaluate(`window.perdure.closedWith(${url}, ['no', 'json', 'here'])`)

    expect(flood).toEqual({ code: 4005, reason: 'rate.limited' })
    expect(noise).toEqual({ code: 4008, reason: 'protocol.violation' })
  })

  it('reports close code 4006 when it reads too slowly, and still receives every event once', async () => {
    page = await browser.load()
    await open({ token: admin.token })
    await follow(SUBJECT, { transport: 'websocket' })
    await expect.poll(async () => (await stateOf()).changes.at(-1)?.state).toBe('open')
    proxy.stall()
    const rest = createClient({ baseUrl: server.url, token: admin.token })
    const { runId } = await rest.agents.run('flood', { input: { events: 100, bytes: 200_000 }, sessionId: 'browser' })

    // Every buffer is full and stays full for longer than the server's write timeout.
    await expect.poll(async () => openSubscriptions(await (await rest.metrics.get()).text())).toBe(0)
    proxy.flow()

    await expect.poll(seenCodes).toContain(4006)
    await expect.poll(seenTypes).toContain('run.completed')
    const log = await rest.runs.events(runId, { order: 'asc', limit: 200 }).all()
    const { items } = await stateOf()
    const ids = items.flatMap((item) =>
      item.type === 'event' && item.event.runId === runId ? [item.event.eventId] : [],
    )
    expect(ids).toEqual(log.map(({ eventId }) => eventId))
  })

  it('reports close code 4007 when the server stops, and continues with the next server', async () => {
    page = await browser.load()
    await open({ token: admin.token })
    await follow(SUBJECT, { transport: 'websocket' })
    await expect.poll(async () => (await stateOf()).changes.at(-1)?.state).toBe('open')

    await server.kill('SIGTERM')
    await expect.poll(seenCodes).toContain(4007)
    await start()

    await run('echo', { after: 'the restart' })
    await expect.poll(seenTypes).toContain('run.completed')
  })
})

const openSubscriptions = (metrics: string) =>
  Number(/^svc_subscriptions\{transport="websocket"\} (\d+)$/m.exec(metrics)?.[1])
