import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { chatAgent } from '../../packages/ai-sdk/src/index.ts'
import { type ScriptedCall, scriptedModel } from '../../packages/ai-sdk/src/testing.ts'
import { PerdureHttpAgent } from '../../packages/client/src/ag-ui.ts'
import { createServer } from '../../packages/server-app/src/index.ts'
import { eventually } from '../durable-server.ts'
import { agUiContent, dataUrl, FILE_SENDERS, openTanStack, type SentFile } from './file-senders.ts'

/** Larger contents are stored beside the database. */
const INLINE_BYTES = 65_536

const file = (name: string, mediaType: string, start: string, size: number): SentFile => ({
  ...{ name, mediaType, bytes: new Uint8Array(Buffer.concat([Buffer.from(start, 'latin1'), randomBytes(size)])) },
})

const FILES = [
  file('Gerät – vorn.png', 'image/png', '\x89PNG\r\n\x1a\n', 2 * INLINE_BYTES),
  file('bill.pdf', 'application/pdf', '%PDF-1.7\n', 5_001),
  file('manual.pdf', 'application/pdf', '%PDF-1.7\n', 3 * INLINE_BYTES),
]

const described = (name: string | undefined, mediaType: unknown, bytes: Uint8Array) => ({
  ...{ name, mediaType, length: bytes.length },
  sha256: createHash('sha256').update(bytes).digest('hex'),
})

/** The files in a prompt, as a model gets them: as bytes, or as base64. */
function filesIn({ prompt }: ScriptedCall) {
  const parts = prompt.flatMap(({ content }) => (Array.isArray(content) ? content : []))
  return parts
    .filter(({ type }) => type === 'file')
    .map(({ filename, mediaType, data }) =>
      described(filename, mediaType, typeof data === 'string' ? Buffer.from(data, 'base64') : data),
    )
}

const folder = mkdtempSync(join(tmpdir(), 'perdure-prompt-files-'))
const calls: ScriptedCall[] = []
const server = await createServer({
  config: {
    ...{ auth: { kind: 'none' }, server: { port: 0 }, storage: { path: join(folder, 'data.db') } },
  },
  adapters: { logger: { debug() {}, info() {}, warn() {}, error() {} } },
  agents: [chatAgent({ id: 'see', model: scriptedModel(() => 'I see.', { onCall: (call) => calls.push(call) }) })],
})
let url = ''

beforeAll(async () => {
  const { host, port, basePath } = await server.start()
  url = `http://${host}:${port}${basePath}`
})
afterAll(async () => {
  await server.stop({ force: true })
  rmSync(folder, { recursive: true, force: true })
})
beforeEach(() => {
  calls.length = 0
})

const sent = FILES.map(({ name, mediaType, bytes }) => described(name, mediaType, bytes))

/** The message of the user as a page of AG-UI gets it from the server. */
const shown = [
  expect.objectContaining({ type: 'text' }),
  ...FILES.map(({ name, mediaType }) => ({
    type: mediaType === 'image/png' ? 'image' : 'document',
    source: { type: 'url', value: expect.stringMatching(/^\/v1\/files\/file_/), mimeType: mediaType },
    metadata: { filename: name },
  })),
]

describe('an image and two PDFs', () => {
  it.each(Object.entries(FILE_SENDERS))(
    'that %s sends reach the model byte by byte, also in the next turn',
    async (_, { open, namesNo }) => {
      const say = await open(url)
      await say('Look.', ...FILES)
      await say('And now?')

      const isNamed = (mediaType: unknown) => namesNo === undefined || !String(mediaType).startsWith(namesNo)
      const expected = sent.map((one) => ({ ...one, name: isNamed(one.mediaType) ? one.name : undefined }))
      expect(calls.map(filesIn)).toEqual([expected, expected])
      expect(readdirSync(join(folder, 'files')).length).toBeGreaterThan(1)
    },
  )

  it('are in another answer to their message, after an AG-UI client has read the thread again', async () => {
    const at = { url: `${url}/agents/see/ag-ui`, threadId: 'read-again' }
    const before = new PerdureHttpAgent(at)
    before.addMessage({ id: 'read-again-1', role: 'user', content: agUiContent('Look.', FILES) })
    await before.runAgent({ runId: 'read-again-run' })
    const page = new PerdureHttpAgent(at)
    await page.connectAgent({ runId: 'read-again-run' })
    const [question, answer] = page.messages
    expect(question?.content).toEqual(shown)
    expect(answer?.content).toBe('I see.')

    page.setMessages(page.messages.slice(0, 1))
    await page.runAgent()
    expect(calls.map(filesIn)).toEqual([sent, sent])
  })

  it('are in another answer to their message, after a page of TanStack was loaded again', async () => {
    const before = openTanStack(url, 'loaded-again')
    await before.sendMessage({ content: agUiContent('Look.', FILES, 'content') })
    const page = openTanStack(url, 'loaded-again', { persistence: true })
    page.attach()
    await eventually(() => page.getMessages().length).toBe(2)
    expect(page.getMessages()[0]?.parts).toEqual(shown)

    await page.reload()
    expect(calls.map(filesIn)).toEqual([sent, sent])
  })
})

describe('the data of a file in a request of OpenAI', () => {
  const [photo = expect.fail()] = FILES
  const post = async (path: string, body: object) => {
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(`${url}/openai/${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    return [response.status, await response.text()] as const
  }

  it('is refused if it is not a data: URL, before a run starts', async () => {
    const [, base64 = ''] = dataUrl(photo).split(',')
    const file = { type: 'file', file: { file_data: base64, filename: 'a.png' } }
    const input = { type: 'input_file', file_data: base64, filename: 'a.png' }
    const completion = { model: 'see', messages: [{ role: 'user', content: [{ type: 'text', text: 'Look.' }, file] }] }
    const response = { model: 'see', input: [{ role: 'user', content: [input] }] }

    const reason = (param: string) => [400, expect.stringContaining(`body.${param}: must be a data: URL`)]
    expect(await post('chat/completions', completion)).toEqual(reason('messages.0.content.1.file.file_data'))
    expect(await post('responses', response)).toEqual(reason('input.0.content.0.file_data'))
    expect(calls).toEqual([])
  })
})
