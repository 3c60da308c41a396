import type { UseCases } from '@perdure/http'
import type { Protocols, ProtocolsDeps } from '@perdure/interop'

/**
 * The use cases of other protocols. Their code is loaded by the first request to one of their routes, so that a server
 * without such clients does not pay for it. A request whose load fails does not affect later ones.
 */
export function createLazyProtocols(
  deps: ProtocolsDeps,
  importCode: () => Promise<Pick<typeof import('@perdure/interop'), 'createProtocols'>> = () =>
    import('@perdure/interop'),
): Pick<UseCases, 'aiSdk' | 'agUi' | 'openai' | 'mcp'> {
  let loading: Promise<Protocols> | undefined
  const load = () => {
    loading ??= importCode()
      .then(({ createProtocols }) => createProtocols(deps))
      .catch((error: unknown) => {
        loading = undefined
        throw error
      })
    return loading
  }
  return {
    aiSdk: {
      send: async (...request) => (await load()).aiSdk.send(...request),
      stream: async (...request) => (await load()).aiSdk.stream(...request),
      messages: async (...request) => (await load()).aiSdk.messages(...request),
      stop: async (...request) => (await load()).aiSdk.stop(...request),
    },
    agUi: {
      run: async (...request) => (await load()).agUi.run(...request),
      connect: async (...request) => (await load()).agUi.connect(...request),
    },
    openai: {
      models: {
        list: async (...request) => (await load()).openai.models.list(...request),
        get: async (...request) => (await load()).openai.models.get(...request),
      },
      completions: { create: async (...request) => (await load()).openai.completions.create(...request) },
      responses: {
        create: async (...request) => (await load()).openai.responses.create(...request),
        get: async (...request) => (await load()).openai.responses.get(...request),
        cancel: async (...request) => (await load()).openai.responses.cancel(...request),
        input: async (...request) => (await load()).openai.responses.input(...request),
      },
      conversations: {
        create: async (...request) => (await load()).openai.conversations.create(...request),
        get: async (...request) => (await load()).openai.conversations.get(...request),
        update: async (...request) => (await load()).openai.conversations.update(...request),
        remove: async (...request) => (await load()).openai.conversations.remove(...request),
        items: async (...request) => (await load()).openai.conversations.items(...request),
      },
    },
    mcp: {
      send: async (...request) => (await load()).mcp.send(...request),
      resume: async (...request) => (await load()).mcp.resume(...request),
    },
  }
}
