import { readdirSync } from 'node:fs'
import { describe, expect, onTestFinished } from 'vitest'
import { createClient } from '../packages/client/src/index.ts'
import type { ToolName } from '../tooling/machine-tools.ts'
import { needsTool } from '../tooling/needed-tool.ts'
import { launchChromium } from './browser-page.ts'
import { EXAMPLES, startExample as start } from './started-example.ts'

/** `chat-pages.test.ts` checks them. */
const CHAT_PAGES = ['chat-page', 'ag-ui-page']

const names = readdirSync(EXAMPLES, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !CHAT_PAGES.includes(entry.name))
  .map(({ name }) => name)

const DEV = /API\s+http:\S+/

/** Checks an app that serves the API below /ai, and starts runs for its signed-in users. */
async function mounted(name: string): Promise<void> {
  const { server } = await start(name, /listening on (http:\S+)/)
  const [, origin = ''] = server.match
  const headers = { cookie: 'session=ann', 'content-type': 'application/json' }
  const response = await fetch(`${origin}/stories`, { method: 'POST', headers, body: '{"topic":"time"}' })
  const { subject, ticket } = (await response.json()) as Readonly<Record<string, string>>
  const client = createClient({ baseUrl: `${origin}/ai/v1`, tickets: () => ticket ?? '' })
  onTestFinished(client.close)

  const words: unknown[] = []
  for await (const item of client.subscribe(subject ?? '', { transport: 'websocket' })) {
    if (item.type === 'event' && item.event.type === 'story.word') words.push(item.event.payload)
  }

  expect(words).toEqual(['Once', 'upon', 'a', 'time'].map((word) => ({ word })))
  expect((await fetch(`${origin}/ai/v1/agents`)).status).toBe(401)
}

const CHECKS: Readonly<Record<string, () => Promise<void>>> = {
  async 'hello-agent'() {
    const { perdure } = await start('hello-agent', DEV)

    const run = await perdure('agents', 'run', 'hello', '--input', '{"name":"Ann"}')

    expect(run).toMatchObject({ status: 'completed', result: { greeting: `Hello Ann, this is run ${run.runId}.` } })
    expect(await perdure('runs', 'list')).toMatchObject({ items: [{ id: run.runId, agentId: 'hello' }] })
  },

  async 'ai-sdk-agent'() {
    const { perdure } = await start('ai-sdk-agent', DEV)

    const run = await perdure('agents', 'run', 'weather', '--input', '{"question":"How cold is it in Oslo?"}')

    expect(run).toMatchObject({ status: 'completed', result: { text: 'In Oslo it is 4 degrees.' } })
    expect(run.usage).toMatchObject({ toolCalls: 1, outputTokens: 7 })
    const shown = JSON.stringify(await perdure('runs', 'export', String(run.runId)))
    expect(shown).toContain('tool.execute.end')
    expect(shown).toContain('text.delta')
  },

  async approvals() {
    const { perdure } = await start('approvals', DEV)
    const input = JSON.stringify({ order: 'A-17', amount: 400 })

    const run = await perdure('workflows', 'run', 'refund', '--input', input)
    const pending = async () => (await perdure('approvals', 'list')).items as readonly { readonly id: string }[]
    await expect.poll(pending).toHaveLength(1)
    const [{ id = '' } = {}] = await pending()
    await perdure('approvals', 'approve', id, '--reason', 'as promised')

    const result = { order: 'A-17', paid: 400, payment: expect.any(String) }
    await expect.poll(() => perdure('runs', 'show', String(run.runId))).toMatchObject({ status: 'completed', result })
  },

  async 'cron-digest'() {
    const { perdure } = await start('cron-digest', DEV)
    for (const note of ['no paper', 'the door squeaks']) {
      await perdure('agents', 'run', 'note', '--session', 'inbox', '--input', JSON.stringify({ note }))
    }

    const next = await perdure('triggers', 'next', 'morning', '--count', '3')
    const { runId } = await perdure('triggers', 'fire', 'morning')

    expect(JSON.stringify(next)).toMatch(/T0[67]:00:00/)
    await expect
      .poll(() => perdure('runs', 'show', String(runId)))
      .toMatchObject({ status: 'completed', result: { digest: '2 notes: no paper; the door squeaks' } })
  },

  hono: () => mounted('hono'),
  express: () => mounted('express'),
  fastify: () => mounted('fastify'),

  async 'browser-client'() {
    const { server } = await start('browser-client', /open (http:\S+)/)
    const browser = await launchChromium()
    onTestFinished(() => browser.close())
    const page = await browser.newPage()
    await page.goto(server.match[1] ?? '')

    await page.click('button')

    await expect.poll(() => page.textContent('#state')).toBe('run.completed')
    expect(await page.textContent('output')).toBe('Every word arrives exactly once')
  },
}

const NEEDED: Readonly<Record<string, readonly ToolName[]>> = { 'browser-client': ['chromium'] }

describe('an example project', () => {
  for (const name of names) {
    needsTool(...(NEEDED[name] ?? [])).it(`behaves as its README describes: ${name}`, async () => {
      await CHECKS[name]?.()
      expect(CHECKS).toHaveProperty(name)
    })
  }
})
