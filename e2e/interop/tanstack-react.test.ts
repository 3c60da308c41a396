import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { needsTool } from '../../tooling/needed-tool.ts'
import { type BrowserPage, openBrowserPage } from '../browser-page.ts'
import { type DurableServer, eventually, startDurableServer } from '../durable-server.ts'

const CONFIG = join(import.meta.dirname, '../fixtures/protocols.config.mjs')
const ENTRY = join(import.meta.dirname, '../fixtures/tanstack-page.mjs')
const STORY = 'part 1. part 2. part 3. part 4. part 5. part 6. End.'

interface Render {
  readonly shown: ReadonlyArray<readonly [role: string, text: string]>
  readonly isLoading: boolean
  readonly error?: string
}

/** The questions and the answers, in turn. Each text of an answer is a message of its own. */
function turnsIn({ shown }: Render): readonly string[] {
  const turns: string[] = []
  for (const [index, [role, text]] of shown.entries()) {
    const continues = role === 'assistant' && shown[index - 1]?.[0] === 'assistant'
    turns.push(continues ? `${turns.pop()}${text}` : text)
  }
  return turns
}

let browser: BrowserPage
let server: DurableServer
let kill = () => {}

needsTool('chromium').describe('a page with the React hook of TanStack', () => {
  beforeAll(async () => {
    browser = await openBrowserPage({ entry: ENTRY, conditionNames: ['import', 'default'] })
    const env = { PERDURE_SERVER_CORS_ALLOW_ORIGINS: browser.origin }
    server = await startDurableServer(CONFIG, env, (end) => {
      kill = end
    })
  })
  afterAll(async () => {
    await browser.close()
    kill()
  })

  const open = async (threadId: string) => {
    const page = await browser.load()
    const options = { url: `${server.url()}/agents/storyteller/ag-ui`, token: server.token, threadId }
    await page.evaluate(`window.perdure.show(${JSON.stringify(options)})`)
    const renders = () => page.evaluate<readonly Render[]>('window.perdure.renders')
    const last = async () => (await renders()).at(-1) ?? expect.fail('nothing is shown')
    const turns = async () => turnsIn(await last())
    const send = async () => {
      await eventually(async () => (await last()).isLoading).toBe(false)
      await page.getByRole('button').click()
    }
    return { renders, turns, send, text: () => page.locator('main').innerText(), close: () => page.close() }
  }

  it('sends a message, and shows its answer as it is written', async () => {
    const page = await open('written')
    await page.send()
    await eventually(page.turns).toEqual(['Tell.', STORY])
    expect((await page.text()).replace(/\s+/g, ' ')).toContain(`Tell. ${STORY}`)
    const answers = (await page.renders()).map((render) => turnsIn(render)[1] ?? '')
    expect(answers.every((text) => STORY.startsWith(text))).toBe(true)
    expect(new Set(answers).size).toBeGreaterThan(3)
  })

  it('shows the conversation after a reload, with the answer that is being written', async () => {
    const before = await open('reloaded')
    await before.send()
    await eventually(before.turns).toEqual(['Tell.', STORY])
    await before.send()
    await eventually(async () => (await before.turns()).length).toBe(4)
    await before.close()

    const page = await open('reloaded')
    await eventually(page.turns).toEqual(['Tell.', STORY, 'Tell.', STORY])
    await page.send()
    await eventually(page.turns).toEqual(['Tell.', STORY, 'Tell.', STORY, 'Tell.', STORY])
    expect((await page.renders()).flatMap(({ error }) => error ?? [])).toEqual([])
  })
})
