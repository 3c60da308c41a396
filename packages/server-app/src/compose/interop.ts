import type { UseCases } from '@perdure/http'
import type { Interop, InteropDeps } from '@perdure/interop'

/**
 * The use cases of other protocols. Their code is loaded by the first request to one of their routes, so that a server
 * without such clients does not pay for it. A request whose load fails does not affect later ones.
 */
export function createLazyInterop(
  deps: InteropDeps,
  importCode: () => Promise<Pick<typeof import('@perdure/interop'), 'createInterop'>> = () =>
    import('@perdure/interop'),
): Pick<UseCases, 'chats' | 'agUi' | 'openAi' | 'mcpServer'> {
  let loading: Promise<Interop> | undefined
  const load = () => {
    loading ??= importCode()
      .then(({ createInterop }) => createInterop(deps))
      .catch((error: unknown) => {
        loading = undefined
        throw error
      })
    return loading
  }
  return {
    chats: {
      send: async (...request) => (await load()).chats.send(...request),
      stream: async (...request) => (await load()).chats.stream(...request),
      messages: async (...request) => (await load()).chats.messages(...request),
      stop: async (...request) => (await load()).chats.stop(...request),
    },
    agUi: {
      run: async (...request) => (await load()).agUi.run(...request),
      connect: async (...request) => (await load()).agUi.connect(...request),
    },
    openAi: {
      models: {
        list: async (...request) => (await load()).openAi.models.list(...request),
        get: async (...request) => (await load()).openAi.models.get(...request),
      },
      completions: { create: async (...request) => (await load()).openAi.completions.create(...request) },
      responses: {
        create: async (...request) => (await load()).openAi.responses.create(...request),
        get: async (...request) => (await load()).openAi.responses.get(...request),
        cancel: async (...request) => (await load()).openAi.responses.cancel(...request),
        input: async (...request) => (await load()).openAi.responses.input(...request),
      },
      conversations: {
        create: async (...request) => (await load()).openAi.conversations.create(...request),
        get: async (...request) => (await load()).openAi.conversations.get(...request),
        update: async (...request) => (await load()).openAi.conversations.update(...request),
        remove: async (...request) => (await load()).openAi.conversations.remove(...request),
        items: async (...request) => (await load()).openAi.conversations.items(...request),
      },
    },
    mcpServer: {
      send: async (...request) => (await load()).mcpServer.send(...request),
      resume: async (...request) => (await load()).mcpServer.resume(...request),
    },
  }
}
