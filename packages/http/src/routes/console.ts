import type { ConsoleSession, Principal } from '@perdure/core'
import type { consoleOperations } from '@perdure/protocol'
import { setSessionCookie } from '../console/session-cookie.ts'
import type { Handlers } from '../handlers.ts'
import type { HttpAppDeps } from '../http-app-deps.ts'
import { readableIds } from '../readable-ids.ts'
import { textAnswer } from '../response/text-answer.ts'

type Deps = Pick<HttpAppDeps, 'config' | 'version' | 'consoleSessions' | 'readAgents' | 'readWorkflows'>

/** `/console`: codes and sessions of the web console. */
export const consoleRoutes = (deps: Deps): Handlers<typeof consoleOperations> => {
  const { config, version, consoleSessions, readAgents, readWorkflows } = deps
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
    async signIn({ body, clientAddress, isSecure, requestOrigin }) {
      const request = { credential: body, clientAddress, origin: requestOrigin }
      const { session, cookie, maxAgeSeconds } = await consoleSessions.signIn(request)
      return textAnswer(JSON.stringify(describe(session, session)), 201, {
        'Content-Type': 'application/json; charset=utf-8',
        'Set-Cookie': setSessionCookie(cookie, { isSecure, maxAgeSeconds }),
      })
    },
    getConsoleSession: async ({ principal }) => ({
      status: 200,
      body: describe(await consoleSessions.read(principal), principal),
    }),
    async signOut({ principal, isSecure }) {
      await consoleSessions.signOut(principal)
      return {
        status: 204,
        headers: { 'Set-Cookie': setSessionCookie('', { isSecure, maxAgeSeconds: 0 }) },
        text: null,
      }
    },
  }
}
