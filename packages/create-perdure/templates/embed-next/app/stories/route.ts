import { perdure } from '../../lib/perdure.ts'

/** Runs the agent for the signed-in user, who needs no token. */
export async function POST(request: Request): Promise<Response> {
  const user = userOf(request.headers.get('cookie'))
  if (user === undefined) return Response.json({ message: 'sign in first' }, { status: 401 })
  const server = await perdure()
  const client = server.client({ subject: user, scopes: ['agents:invoke:story', 'runs:read:own'] })
  return Response.json(await client.agents.run('story', { input: await request.json() }))
}

/** Replace this with the session of your application. */
const userOf = (cookie: string | null): string | undefined => /session=(\w+)/.exec(cookie ?? '')?.[1]
