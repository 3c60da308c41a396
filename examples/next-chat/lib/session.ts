import { getIronSession, type SessionOptions, webCookies } from 'iron-session'

export interface Session {
  user?: string
}

// Without a password of its own, every start signs everybody out.
process.env.SESSION_PASSWORD ??= crypto.randomUUID()

export const options: SessionOptions = {
  cookieName: 'next-chat',
  password: process.env.SESSION_PASSWORD,
  cookieOptions: { secure: process.env.COOKIE_SECURE === 'true' },
}

/** The session of a request. `save` and `destroy` add the cookie to the headers of the response. */
export const sessionOf = (request: Request, headers = new Headers()) =>
  getIronSession<Session>(webCookies(request, headers), options)
