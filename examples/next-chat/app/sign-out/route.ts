import { sessionOf } from '../../lib/session.ts'

/** A form of another site comes without the cookie, so it signs nobody out. */
export async function POST(request: Request): Promise<Response> {
  const headers = new Headers({ location: '/' })
  const session = await sessionOf(request, headers)
  if (session.user !== undefined) session.destroy()
  return new Response(null, { status: 303, headers })
}
