import type { Chat } from 'chat'
import { expect, it } from 'vitest'
import type { PerdureState } from '../state/perdure-state.ts'
import { createPosts } from './posts.ts'

/** A chat of one thread, and a state that lets the process die before one of its writes. */
function worldOf() {
  const stored = new Map<string, unknown>()
  const posted: { id: string; text: string }[] = []
  let writesLeft = Number.POSITIVE_INFINITY
  const state = {
    get: async (key: string) => stored.get(key) ?? null,
    async set(key: string, value: unknown) {
      if (writesLeft-- <= 0) throw new Error('killed')
      stored.set(key, value)
    },
  } as unknown as PerdureState
  const adapter = {
    async postMessage(_: string, text: string) {
      posted.push({ id: `ts-${posted.length + 1}`, text })
      return posted.at(-1)
    },
    async editMessage(_: string, messageId: string, text: string) {
      const message = posted.find(({ id }) => id === messageId)
      if (message !== undefined) message.text = text
    },
    fetchMessages: async () => ({ messages: posted.map((message) => ({ ...message, author: { isMe: true } })) }),
  }
  let isInitialized = false
  const chat = {
    async initialize() {
      isInitialized = true
    },
    thread() {
      return {
        adapter: new Proxy(adapter, {
          get: (target, member) => (isInitialized || member === 'then' ? Reflect.get(target, member) : undefined),
        }),
      }
    },
  } as unknown as Chat
  const show = (text: string) =>
    createPosts({ chat, state }, 'thread').show({
      ...{ name: 'answer', content: text, mark: 'hello', isMarked: (message, mark) => message.text === mark },
    })
  return {
    show,
    posted,
    dieBefore(write: number) {
      writesLeft = write - 1
    },
    restart() {
      writesLeft = Number.POSITIVE_INFINITY
    },
  }
}

it.each([1, 2, 3])('posts a message once if the process dies before write %d of it', async (write) => {
  const { show, posted, dieBefore, restart } = worldOf()
  dieBefore(write)
  await expect(show('hello')).rejects.toThrow('killed')
  restart()
  await show('hello')
  await show('hello, world')

  expect(posted).toEqual([{ id: 'ts-1', text: 'hello, world' }])
})
