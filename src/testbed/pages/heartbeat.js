let beats = 0;
const beat = setInterval(() => {
  fetch('/api/notifications/unread');
  if (++beats === 3) clearInterval(beat);
}, 1500);
