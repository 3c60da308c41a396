import { defineAgent } from '@perdure/server-app'
import { expect, it } from 'vitest'
import { chatAgent, durable } from './index.ts'
import { serverWith, userMessage } from './server.fixture.ts'
import { scriptedModel } from './testing.ts'

const CAT = 'https://files.example/cat.png'

/** A server with a model that loads no URL by itself, and a file of another server that can vanish. */
async function setUp() {
  const prompts: string[] = []
  const loaded: string[] = []
  const scripted = scriptedModel(({ prompt }) => {
    prompts.push(JSON.stringify(prompt))
    return 'seen'
  })
  const model = new Proxy(scripted, {
    get: (target, member) => (member === 'supportedUrls' ? {} : Reflect.get(target, member)),
  })
  let isGone = false
  const remoteFiles = {
    async load(url: string) {
      loaded.push(url)
      return isGone || url !== CAT ? { error: 'the server answered 404' } : { bytes: new Uint8Array([9, 8, 7]) }
    },
  }
  const own = defineAgent({
    id: 'own',
    run: async (url: string) => {
      const image = { type: 'file' as const, data: new URL(url), mediaType: 'image/png' }
      const { text } = await durable().generateText({ model, messages: [{ role: 'user', content: [image] }] })
      return text
    },
  })
  const server = await serverWith([chatAgent({ id: 'shop', model }), own], undefined, { remoteFiles })
  let messages = 0
  const say = (text: string, ...parts: readonly object[]) =>
    server.chat('shop', { id: 'c1', messages: [userMessage(`m${messages++}`, text, ...parts)] })
  const vanish = () => {
    isGone = true
  }
  return { server, prompts, loaded, say, vanish }
}

const fileAt = (url: string) => ({ type: 'file', mediaType: 'image/png', url })
const typesOf = (chunks: readonly { readonly type: string }[]) => chunks.map(({ type }) => type)

it('gives a model the bytes of a linked file that it cannot load, through the port that connects to public addresses', async () => {
  const { say, prompts, loaded } = await setUp()
  await say('What is this?', fileAt(CAT))

  expect(loaded).toEqual([CAT])
  expect(prompts.at(-1)).toContain('"0":9,"1":8,"2":7')
})

it('continues a chat after a linked file has vanished, and tells the model', async () => {
  const { say, prompts, vanish } = await setUp()
  await say('What is this?', fileAt(CAT))
  vanish()
  const chunks = await say('And now?')

  expect(typesOf(chunks)).not.toContain('error')
  expect(prompts.at(-1)).toContain(`[a file that cannot be read: ${CAT}]`)
})

it('answers a message whose link never led anywhere', async () => {
  const { say, prompts } = await setUp()
  const chunks = await say('See', fileAt('http://vm:9399/internal'))

  expect(typesOf(chunks)).not.toContain('error')
  expect(prompts.at(-1)).toContain('[a file that cannot be read: http://vm:9399/internal]')
})

it('fails a call whose code links to a file that cannot be loaded', async () => {
  const { server } = await setUp()
  const run = await server.get<{ readonly status: string; readonly error?: { readonly message: string } }>(
    '/agents/own/run',
    { input: 'https://files.example/dog.png' },
  )

  expect(run.status).toBe('failed')
  expect(run.error?.message).toContain('https://files.example/dog.png cannot be loaded: the server answered 404')
})
