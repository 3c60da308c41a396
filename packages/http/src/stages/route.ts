import { perdureError } from '@perdure/ports'
import { acceptsHtml } from '../request/accept.ts'
import type { RequestHead } from '../request/request-head.ts'
import type { CreateStage } from './stage.ts'

/**
 * Refuses requests without a route. For a wrong method, lists the allowed methods. Redirects a browser that opens the
 * address of the server to the docs page.
 */
export const createRoute: CreateStage =
  ({ config: { basePath, docsEnabled } }) =>
  (exchange) => {
    const { head, route, headers } = exchange
    if (route !== undefined) return undefined

    const methods = exchange.methods()
    if (methods.length === 0 && docsEnabled && isBrowserAtRoot(head, basePath)) {
      return { status: 302, location: `${basePath}/docs` }
    }
    if (methods.length === 0) throw perdureError('route-not-found')
    headers.set('Allow', methods.join(', '))
    if (head.method === 'OPTIONS') return { status: 204 }
    throw perdureError('method-not-allowed')
  }

const isBrowserAtRoot = ({ method, path, header }: RequestHead, basePath: string): boolean =>
  ['GET', 'HEAD'].includes(method) && ['/', basePath, `${basePath}/`].includes(path) && acceptsHtml(header('accept'))
