import type { ConsoleSession, Principal } from '@perdure/core'
import { perdureError } from '@perdure/ports'
import type { consoleOperations } from '@perdure/protocol'
import type { ConsoleData } from '../console/console-data.ts'
import type { Handlers } from '../handlers.ts'
import type { HttpAppDeps } from '../http-app-deps.ts'
import { readableIds } from '../readable-ids.ts'
import { textAnswer } from '../response/text-answer.ts'
import { setSessionCookie } from '../sign-in/session-cookie.ts'

type Deps = Pick<
  HttpAppDeps,
  'config' | 'version' | 'cookieTags' | 'consoleSessions' | 'consoleData' | 'readAgents' | 'readWorkflows'
>

const JSON_TYPE = 'application/json; charset=utf-8'

/** `/console`: codes and sessions of the web console. */
export const consoleRoutes = (deps: Deps): Handlers<typeof consoleOperations> => {
  const { config, version, cookieTags, consoleSessions, consoleData, readAgents, readWorkflows } = deps
  const describe = (session: ConsoleSession, principal: Principal) => {
    const { agents, workflows } = readableIds(principal, deps)
    return {
      ...session,
      readOnly: config.consoleReadOnly,
      version,
      agents: agents.map((id) => ({ id, description: readAgents.get(id).description })),
      workflows: workflows.map((id) => ({ id, description: readWorkflows.get(id).description })),
    }
  }

  return {
    createConsoleCode: ({ principal, key }) => consoleSessions.issueCode({ principal, key }),
    async signIn({ body, clientAddress, host, isSecure, requestOrigin }) {
      const request = { credential: body, clientAddress, origin: requestOrigin }
      const { session, cookie, maxAgeSeconds } = await consoleSessions.signIn(request)
      return textAnswer(JSON.stringify(describe(session, session)), 201, {
        'Content-Type': JSON_TYPE,
        'Set-Cookie': setSessionCookie({ value: cookie, maxAgeSeconds, host, isSecure }, cookieTags),
      })
    },
    getConsoleSession: async ({ principal }) => ({
      status: 200,
      body: describe(await consoleSessions.read(principal), principal),
    }),
    getConsoleSystem: async () => ({ status: 200, body: await dataOf(consoleData).readSystem() }),
    getMetricHistory: () => ({ status: 200, body: dataOf(consoleData).readMetricHistory() }),
    async signOut({ principal, host, isSecure }) {
      const tokens = await consoleSessions.signOut(principal)
      const headers = { 'Set-Cookie': setSessionCookie({ value: '', maxAgeSeconds: 0, host, isSecure }, cookieTags) }
      if (tokens.length === 0) return { status: 204, headers, text: null }
      return textAnswer(JSON.stringify({ tokens }), 200, { 'Content-Type': JSON_TYPE, ...headers })
    },
  }
}

/** @throws PerdureError `route-not-found` if the server has no files of the console */
function dataOf(data: ConsoleData | undefined): ConsoleData {
  if (data === undefined) throw perdureError('route-not-found')
  return data
}
