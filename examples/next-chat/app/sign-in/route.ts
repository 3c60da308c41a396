import { sessionOf } from '../../lib/session.ts'

const NAME = /^[\w.-]{1,64}$/

/** Believes every name. Replace it with your sign-in: the guide `sign-in.md` shows one with an OpenID Connect provider. */
export async function POST(request: Request): Promise<Response> {
  const user = (await request.formData()).get('user')
  if (typeof user !== 'string' || !NAME.test(user))
    return new Response('a name has letters and digits', { status: 400 })
  const headers = new Headers({ location: '/' })
  const session = await sessionOf(request, headers)
  session.user = user
  await session.save()
  return new Response(null, { status: 303, headers })
}
