import { CONSOLE_CALLBACK, type Operation } from '@perdure/protocol'
import * as v from 'valibot'
import type { Answer, Call } from '../handlers.ts'
import type { HttpAppDeps } from '../http-app-deps.ts'
import type { Mounted } from '../mount.ts'
import { cookieNamed } from '../request/cookies.ts'
import { ownCookieNames } from '../request/own-cookies.ts'
import { setSessionCookie } from './session-cookie.ts'

/** Providers add parameters of their own. */
const AnyQuery = v.record(v.string(), v.string())

const page = { method: 'GET', scope: null, idempotent: false } as const

/** Pages through which the browser passes while a user of a provider signs in. Outside the API, like the console itself. */
const PAGES = {
  login: {
    ...page,
    id: 'console.login',
    path: '/login',
    responses: { 303: { description: 'The sign-in continues at the provider.' } },
    errors: ['auth-locked-out', 'sign-in-unavailable'],
    summary: 'Begin a sign-in with the provider of the console.',
  },
  callback: {
    ...page,
    id: 'console.callback',
    path: CONSOLE_CALLBACK.slice('/console'.length),
    privileged: true,
    query: AnyQuery,
    responses: { 303: { description: 'The user is signed in, and the console is at this address.' } },
    errors: [
      'auth-invalid',
      'auth-revoked',
      'scope-denied',
      'auth-locked-out',
      'audit-unavailable',
      'sign-in-unavailable',
    ],
    summary: 'Finish a sign-in with the provider of the console.',
  },
  logout: {
    ...page,
    id: 'console.logout',
    path: '/logout',
    responses: { 303: { description: 'The session at the provider ends at this address.' } },
    errors: [],
    summary: 'Continue to the sign-out of the provider of the console.',
  },
} as const satisfies Readonly<Record<string, Operation>>

type PagesDeps = Pick<HttpAppDeps, 'cookieTags' | 'providerSignIn'>

/** Relative, so that the console may have any prefix. */
const CONSOLE = './'

/** The pages of the sign-in; none without a provider. @param root the path of the console */
export function signInPages(root: string, { cookieTags, providerSignIn }: PagesDeps): readonly Mounted[] {
  if (!providerSignIn.isEnabled) return []

  /** Lax, because the provider sends the browser back from another site. */
  const secretCookie = (value: string, maxAgeSeconds: number, call: Pick<Call<Operation>, 'host' | 'isSecure'>) => {
    const [name] = ownCookieNames('sign-in', call, cookieTags)
    return `${name}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${call.isSecure ? '; Secure' : ''}`
  }

  const login = async (call: Call<Operation>) => {
    const { url, secret, maxAgeSeconds } = await providerSignIn.begin(call.clientAddress)
    return redirect(url, [secretCookie(secret, maxAgeSeconds, call)])
  }

  const callback = async (call: Call<Operation>) => {
    const { header, clientAddress, requestOrigin: origin, host, isSecure } = call
    const [name] = ownCookieNames('sign-in', call, cookieTags)
    const query = new URLSearchParams(call.query as v.InferOutput<typeof AnyQuery>)
    const secret = cookieNamed({ header }, name)
    const { cookie, maxAgeSeconds } = await providerSignIn.finish({ query, secret, clientAddress, origin })
    return redirect(CONSOLE, [
      setSessionCookie({ value: cookie, maxAgeSeconds, host, isSecure }, cookieTags),
      secretCookie('', 0, call),
    ])
  }

  const logout = async () => redirect((await providerSignIn.endSessionUrl()) ?? CONSOLE, [])

  const mounted = (operation: Operation, handle: Mounted['handle']): Mounted => ({
    operation,
    pattern: root + operation.path,
    handle,
    showsErrorPages: true,
  })
  return [mounted(PAGES.login, login), mounted(PAGES.callback, callback), mounted(PAGES.logout, logout)]
}

function redirect(location: string, cookies: readonly string[]): Answer {
  const headers = new Headers({ Location: location, 'Cache-Control': 'no-store' })
  for (const cookie of cookies) headers.append('Set-Cookie', cookie)
  return new Response(null, { status: 303, headers })
}
