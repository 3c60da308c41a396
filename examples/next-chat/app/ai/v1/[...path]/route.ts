import { perdure } from '../../../../lib/perdure.ts'
import { sessionOf } from '../../../../lib/session.ts'

export const dynamic = 'force-dynamic'

/** What each user may do, with what the user owns. */
const scopes = [
  'agents:invoke:support',
  'runs:read:own',
  'sessions:read:own',
  'sessions:write:own',
  'files:read:own',
  'files:write:own',
]

async function handle(request: Request): Promise<Response> {
  const { user } = await sessionOf(request)
  if (user === undefined) return Response.json({ message: 'sign in first' }, { status: 401 })
  const server = await perdure()
  return server.fetch(request, { as: { subject: user, scopes, name: user } })
}

export { handle as DELETE, handle as GET, handle as PATCH, handle as POST, handle as PUT }
