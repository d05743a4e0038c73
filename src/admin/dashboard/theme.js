// Before the first paint, so that the page does not flash.
try {
  const theme = localStorage.getItem('theme');
  if (theme) document.documentElement.dataset.theme = theme;
} catch { /* storage is off: the system's theme */ }
