'use client'

import { useState } from 'react'

export default function Page() {
  const [text, setText] = useState('')

  async function tell(form: FormData): Promise<void> {
    await cookieStore.set('session', 'ann') // stands in for a sign-in
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ topic: form.get('topic') })
    const response = await fetch('/stories', { method: 'POST', headers, body })
    const { result } = (await response.json()) as { readonly result?: { readonly text: string } }
    setText(result?.text ?? `status ${response.status}`)
  }

  return (
    <form action={tell}>
      <input name="topic" defaultValue="a fox" />
      <button type="submit">Tell a story</button>
      <output>{text}</output>
    </form>
  )
}
