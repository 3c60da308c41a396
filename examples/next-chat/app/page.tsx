import { getIronSession } from 'iron-session'
import { cookies } from 'next/headers.js'
import { options, type Session } from '../lib/session.ts'
import { Chats } from './chats.tsx'

export const dynamic = 'force-dynamic'

export default async function Page() {
  const { user } = await getIronSession<Session>(await cookies(), options)
  if (user === undefined) {
    return (
      <form action="/sign-in" method="post">
        <input name="user" aria-label="name" placeholder="your name" />
        <button type="submit">Sign in</button>
      </form>
    )
  }
  return (
    <>
      <form action="/sign-out" method="post">
        {user} <button type="submit">Sign out</button>
      </form>
      <Chats />
    </>
  )
}
