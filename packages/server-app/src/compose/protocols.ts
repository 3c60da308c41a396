import type { UseCases } from '@perdure/http'
import type { ProtocolsDeps } from '@perdure/interop'

/**
 * The code of other protocols is loaded by the first request to one of their routes, so that a server without such clients
 * does not pay for it. A request whose load fails does not affect later ones.
 */
export function createLazyProtocols(
  deps: ProtocolsDeps,
  importCode: () => Promise<Pick<typeof import('@perdure/interop'), 'createProtocols'>> = () =>
    import('@perdure/interop'),
): UseCases['callProtocol'] {
  let loading: Promise<UseCases['callProtocol']> | undefined
  const load = () => {
    loading ??= importCode()
      .then(({ createProtocols }) => createProtocols(deps))
      .catch((error: unknown) => {
        loading = undefined
        throw error
      })
    return loading
  }
  return async (...request) => (await load())(...request)
}
