import { perdureError } from '@perdure/ports'
import type { Operation } from '@perdure/protocol'
import type { Answer } from '../handlers.ts'
import type { HttpAppDeps } from '../http-app-deps.ts'
import type { Mounted } from '../mount.ts'
import { type CookieScope, ownCookieNames } from '../request/own-cookies.ts'
import { encodingFor, hasContent } from '../response/conditional.ts'
import { signInPages } from '../sign-in/sign-in-pages.ts'
import type { ConsoleAsset } from './console-data.ts'

/** The path of the console: `console` in place of the last segment of the base path. */
export const consolePathOf = (basePath: string): string => `${basePath.slice(0, basePath.lastIndexOf('/'))}/console`

const page = {
  method: 'GET',
  scope: null,
  idempotent: false,
  errors: ['route-not-found'],
} as const

/** Routes outside the API, so they are not in the operation table. */
const PAGES = {
  entrance: {
    ...page,
    id: 'console.entrance',
    path: '',
    responses: { 308: { description: 'The page is at this path with a slash.' } },
    summary: 'Redirect to the console.',
  },
  page: {
    ...page,
    id: 'console.page',
    path: '/',
    responses: { 200: { stream: 'html', description: 'The page.' } },
    summary: 'Open the console.',
  },
  file: {
    ...page,
    id: 'console.file',
    path: '/:file',
    responses: { 200: { stream: 'text', description: 'A script, style or picture of the console.' } },
    summary: 'Read a file of the console.',
  },
} as const satisfies Readonly<Record<string, Operation>>

const IDS: ReadonlySet<string> = new Set(Object.values(PAGES).map(({ id }) => id))

/** Whether the route serves a file of the console. */
export const isConsolePage = ({ operation }: Mounted): boolean => IDS.has(operation.id)

/** No inline script or style, nothing from another host, and no text that becomes code. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

const HTML = 'index.html'
const API_MARK = '%API%'
const CSRF_MARK = '%CSRF%'
const SIGN_IN_MARK = '%SIGN_IN%'

type PagesDeps = Pick<HttpAppDeps, 'config' | 'consoleData' | 'cookieTags' | 'providerSignIn'>

/** The routes of the console; none if the server does not serve it. */
export function consolePages(deps: PagesDeps): Mounted[] {
  const { config, consoleData, cookieTags, providerSignIn } = deps
  if (consoleData === undefined) return []
  const { assets } = consoleData
  const root = consolePathOf(config.basePath)
  const signIn = providerSignIn.isEnabled ? 'provider' : 'token'
  const html = withApi(assets.get(HTML), config.basePath).replace(SIGN_IN_MARK, signIn)

  const fileNamed = (name: string, call: PageCall) => {
    const asset = name === HTML ? undefined : assets.get(name)
    if (asset === undefined) throw perdureError('route-not-found')
    return fileAnswer(name, asset, call)
  }

  return [
    mountedAt(root, PAGES.entrance, () => redirect(`${root.slice(root.lastIndexOf('/') + 1)}/`)),
    mountedAt(root, PAGES.page, (call) =>
      htmlAnswer(html.replace(CSRF_MARK, ownCookieNames('csrf', call, cookieTags)[0])),
    ),
    ...signInPages(root, deps),
    mountedAt(root, PAGES.file, (call) => fileNamed(call.params.file ?? '', call)),
  ]
}

interface PageCall extends CookieScope {
  readonly params: Readonly<Record<string, string>>
  readonly acceptEncoding: string
  readonly ifNoneMatch: string
}

type Handle = (call: PageCall) => Answer

const mountedAt = (root: string, operation: Operation, handle: Handle): Mounted => ({
  operation,
  pattern: root + operation.path,
  handle,
})

/** Names the API relative to the page, so that it is also found behind a proxy that adds a prefix. */
function withApi(asset: ConsoleAsset | undefined, basePath: string): string {
  const text = new TextDecoder().decode(asset?.body)
  return text.replace(API_MARK, `..${basePath.slice(basePath.lastIndexOf('/'))}`)
}

/** Relative, so that the path may have any prefix. */
const redirect = (location: string): Answer => ({ status: 308, headers: { Location: location }, text: null })

const htmlAnswer = (html: string): Answer => ({
  status: 200,
  headers: {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Length': String(new TextEncoder().encode(html).length),
    'Cache-Control': 'no-cache',
    'Content-Security-Policy': CONTENT_SECURITY_POLICY,
    'Cross-Origin-Opener-Policy': 'same-origin',
  },
  text: html,
})

/** The names of files change with their content, so a copy stays valid forever. */
function fileAnswer(name: string, asset: ConsoleAsset, { acceptEncoding, ifNoneMatch }: PageCall): Answer {
  const { type, body, brotli, gzip } = asset
  const encoding = encodingFor(acceptEncoding, ['br', 'gzip'])
  const bytes = encoding === 'br' ? brotli : encoding === 'gzip' ? gzip : body
  const tag = `"${name}${encoding === undefined ? '' : `.${encoding}`}"`
  const headers = {
    'Cache-Control': 'public, max-age=31536000, immutable',
    ETag: tag,
    Vary: 'Accept-Encoding',
  }
  if (hasContent(ifNoneMatch, tag)) return new Response(null, { status: 304, headers })
  return new Response(new Uint8Array(bytes), {
    headers: {
      ...headers,
      'Content-Type': type,
      'Content-Length': String(bytes.length),
      ...(encoding === undefined ? {} : { 'Content-Encoding': encoding }),
    },
  })
}
