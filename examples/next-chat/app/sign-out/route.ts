import { sessionOf } from '../../lib/session.ts'

export async function POST(request: Request): Promise<Response> {
  const headers = new Headers({ location: '/' })
  const session = await sessionOf(request, headers)
  session.destroy()
  return new Response(null, { status: 303, headers })
}
